; RUN: order-iterations 4
; Loops that run as they are.
declare void @__metal_barrier(i32, i32) convergent
; The kernel may write what the loop reads.
; CHECK-LABEL: define void @written(
; CHECK-NOT: turn
; CHECK: ret void
define void @written(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; The result of the operation depends on the order.
; CHECK-LABEL: define void @result(
; CHECK-NOT: turn
; CHECK: ret void
define void @result(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  store i32 %old, ptr addrspace(1) %from
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; The last exchange wins.
; CHECK-LABEL: define void @exchange(
; CHECK-NOT: turn
; CHECK: ret void
define void @exchange(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw xchg ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; A thread's maxima and additions do not change places.
; CHECK-LABEL: define void @mixed(
; CHECK-NOT: turn
; CHECK: ret void
define void @mixed(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %most = atomicrmw umax ptr addrspace(3) %at, i32 %k monotonic
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; A plain store to the bins, which a later addition must follow.
; CHECK-LABEL: define void @stores(
; CHECK-NOT: turn
; CHECK: ret void
define void @stores(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  store i32 0, ptr addrspace(3) %at
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; The number of iterations is not a multiple of the lanes.
; CHECK-LABEL: define void @odd(
; CHECK-NOT: turn
; CHECK: ret void
define void @odd(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 10
  br i1 %again, label %loop, label %done
done:
  ret void
}

; What differs between threads was read, and may not be what another thread reads.
; CHECK-LABEL: define void @read(
; CHECK-NOT: turn
; CHECK: ret void
define void @read(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %own = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %start = load i32, ptr addrspace(1) %own
  call void @__metal_barrier(i32 1, i32 2)
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  ret void
}

; A value of the loop is used after it.
; CHECK-LABEL: define void @used(
; CHECK-NOT: turn
; CHECK: ret void
define void @used(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  %last = phi i32 [ %bin, %loop ]
  store i32 %last, ptr addrspace(1) %in
  ret void
}

; Some threads have left, so not all would reach a barrier, or run iterations of others.
; CHECK-LABEL: define void @left(
; CHECK-NOT: turn
; CHECK: ret void
define void @left(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = mul i32 %x, 12
  %stays = icmp ult i32 %x, 100
  br i1 %stays, label %before, label %left
before:
  call void @__metal_barrier(i32 1, i32 2)
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %k.next, %loop ]
  %place = add i32 %start, %k
  %wide = zext i32 %place to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, 1
  %again = icmp ult i32 %k.next, 12
  br i1 %again, label %loop, label %done
done:
  call void @__metal_barrier(i32 1, i32 2)
  ret void
left:
  ret void
}

; The rows of a threadgroup have different numbers of iterations.
; CHECK-LABEL: define void @rows(
; CHECK-NOT: turn
; CHECK: ret void
define void @rows(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %count = load i32, ptr %memory, !invariant.load !0
  %next = getelementptr i8, ptr %memory, i64 4
  %threads = load i32, ptr %next, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %row = mul i32 %y, 1000
  %start = add i32 %row, %x
  %inside = icmp ult i32 %start, %count
  br i1 %inside, label %before, label %done
before:
  br label %loop
loop:
  %k = phi i32 [ %start, %before ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide.k
  %bin = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %k.next = add i32 %k, %threads
  %again = icmp ult i32 %k.next, %count
  br i1 %again, label %loop, label %after
after:
  br label %done
done:
  ret void
}
!0 = !{}
