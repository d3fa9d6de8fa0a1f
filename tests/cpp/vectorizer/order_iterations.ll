; RUN: order-iterations 4
; Gangs take turns in a grid-stride loop: a barrier ends each iteration. All threads count to the number of iterations of
; the row's first thread. If that is not known, as a number may wrap around, the loop runs as it was.
; CHECK-LABEL: define void @grid_stride(
; CHECK: getelementptr inbounds i8, ptr %group, i64 28
; CHECK-NEXT: %[[ROW:.*]] = load i32, ptr %{{.*}}, align 4, !invariant.load
; CHECK-NEXT: %[[THREADS:.*]] = zext i32 %[[ROW]] to i64
; CHECK-NEXT: %[[LAST:.*]] = add nuw nsw i64 %{{.*}}, %[[THREADS]]
; CHECK: %[[END:.*]] = add i64 %[[LAST]], %{{.*}}
; CHECK: icmp ugt i64 %{{.*}}, 4294967295
; CHECK: icmp eq i32 %threads, 0
; CHECK: br i1 %{{.*}}, label %entry.split, label %turn
; CHECK: entry.split:
; CHECK: atomicrmw add
; CHECK: turn:
; CHECK-NEXT: %[[TURN:.*]] = phi i32
; CHECK-NEXT: %[[DISTANCE:.*]] = mul nuw i32 %threads, %[[TURN]]
; CHECK-NEXT: %[[NUMBER:.*]] = add nuw i32 %start, %[[DISTANCE]]
; CHECK-NEXT: %[[RUNS:.*]] = icmp ult i32 %[[NUMBER]], %count
; CHECK-NEXT: br i1 %[[RUNS]], label %[[COPY:.*]], label %turn.end
; CHECK: [[COPY]]:
; CHECK: atomicrmw add
; CHECK: turn.end:
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2)
; CHECK-NEXT: %{{.*}} = add nuw i32 %[[TURN]], 1
; CHECK: ret void
declare void @__metal_barrier(i32, i32) convergent
define void @grid_stride(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %count = load i32, ptr %memory, !invariant.load !0
  %next = getelementptr i8, ptr %memory, i64 4
  %threads = load i32, ptr %next, !invariant.load !0
  %first = getelementptr i8, ptr %memory, i64 8
  %before.group = load i32, ptr %first, !invariant.load !0
  %in = addrspacecast ptr %memory to ptr addrspace(1)
  %bins = addrspacecast ptr %group to ptr addrspace(3)
  %start = add i32 %before.group, %x
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

; If each thread reads a run, the lanes share the iterations of one thread after the other. All have a thread. There are
; 12 iterations, so three turns for each of four threads.
; CHECK-LABEL: define void @runs(
; CHECK: %[[FIRST:.*]] = sub i32 %x, %lane
; CHECK: turn:
; CHECK-NEXT: %[[TURN:.*]] = phi i32
; CHECK-NEXT: %[[NUMBER:.*]] = udiv i32 %[[TURN]], 3
; CHECK-NEXT: %[[THREAD:.*]] = add i32 %[[FIRST]], %[[NUMBER]]
; CHECK-NEXT: %[[OF_THREAD:.*]] = urem i32 %[[TURN]], 3
; CHECK-NEXT: %[[ITERATIONS:.*]] = shl nuw nsw i32 %[[OF_THREAD]], 2
; CHECK-NEXT: %[[ITERATION:.*]] = add i32 %[[ITERATIONS]], %lane
; CHECK-NEXT: %[[START:.*]] = mul i32 %[[THREAD]], 12
; CHECK-NEXT: add i32 %[[START]], %[[ITERATION]]
; CHECK: atomicrmw add
; CHECK-NEXT: %[[NEXT:.*]] = add nuw nsw i32 %[[TURN]], 1
; CHECK-NEXT: icmp eq i32 %[[NEXT]], 12
; CHECK-NOT: __metal_barrier
; CHECK: ret void
define void @runs(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
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
  ret void
}
!0 = !{}
