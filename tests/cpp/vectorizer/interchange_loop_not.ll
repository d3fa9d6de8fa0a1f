; RUN: interchange-loop
; CHECK-NOT: kernel.iteration
; The elements are close to each other.
define void @near(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, 1000
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; A sum is carried.
define void @sum(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  %one = load float, ptr addrspace(1) %at
  %more = fadd float %sum, %one
  store float %more, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; A store would be repeated.
define void @stores_before(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  store float 2.0, ptr addrspace(1) %to
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; The loop may write what is read before it.
define void @reads_before(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  %value = load float, ptr addrspace(1) %to
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float %value, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; The last number is used.
define void @used_after(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  %end = getelementptr i8, ptr addrspace(1) %to, i32 %k
  store float 2.0, ptr addrspace(1) %end
  ret void
}
; Threads of the row start anywhere.
define void @starts(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  %start = mul i32 %x, %x
  br label %loop
loop:
  %k = phi i32 [ %start, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; Threads of the row start in turns.
define void @falls(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  %start = sub i32 1024, %x
  br label %loop
loop:
  %k = phi i32 [ %start, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; Each thread has its own step.
define void @steps(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  %step = add i32 %x, 4096
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, %step
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
; Other threads see the order of atomic operations.
define void @atomics(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %old = atomicrmw add ptr addrspace(1) %to, i32 1 monotonic
  %k.next = add i32 %k, 4096
  %again = icmp ult i32 %k.next, 1000000
  br i1 %again, label %loop, label %done
done:
  ret void
}
!0 = !{}
