; RUN: interchange-loop
; One function runs an iteration of a grid-stride loop. The other one counts those of the row's first thread. It returns 0
; if the number of a thread of the row may wrap around, or if the step is 0.
; CHECK-LABEL: define internal void @kernel.iteration(
; CHECK: %inside = icmp ult i32 %start, %count
; CHECK: before:
; CHECK-NEXT: %[[DISTANCE:.*]] = mul nuw i32 %threads, %iteration
; CHECK-NEXT: %[[NUMBER:.*]] = add nuw i32 %start, %[[DISTANCE]]
; CHECK-NEXT: %[[RUNS:.*]] = icmp ult i32 %[[NUMBER]], %count
; CHECK-NEXT: br i1 %[[RUNS]], label %loop, label %after
; CHECK: %wide.k = zext i32 %[[NUMBER]] to i64
; CHECK: store float
; CHECK-NEXT: br label %after
; CHECK-LABEL: define internal i32 @kernel.iterations(
; CHECK: %[[MORE:.*]] = udiv i64 %{{.*}}, %{{.*}}
; CHECK-NEXT: %[[ITERATIONS:.*]] = add i64 %[[MORE]], 1
; CHECK: %[[LAST:.*]] = add i64 %[[FIRST:.*]], %[[ROW:.*]]
; CHECK: %[[END:.*]] = add i64 %[[LAST]], %{{.*}}
; CHECK-NEXT: icmp ule i64 %[[END]], 4294967295
; CHECK: ret i32
; CHECK: ret i32 0
define void @stride(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %count = load i32, ptr %memory, !invariant.load !0
  %next = getelementptr i8, ptr %memory, i64 4
  %threads = load i32, ptr %next, !invariant.load !0
  %data = getelementptr i8, ptr %memory, i64 64
  %to = addrspacecast ptr %data to ptr addrspace(1)
  %row = mul i32 %y, 5000
  %start = add i32 %row, %x
  %inside = icmp ult i32 %start, %count
  br i1 %inside, label %before, label %done
before:
  br label %loop
loop:
  %k = phi i32 [ %start, %before ], [ %k.next, %loop ]
  %wide.k = zext i32 %k to i64
  %at = getelementptr float, ptr addrspace(1) %to, i64 %wide.k
  store float 1.0, ptr addrspace(1) %at
  %k.next = add i32 %k, %threads
  %again = icmp ult i32 %k.next, %count
  br i1 %again, label %loop, label %after
after:
  br label %done
done:
  ret void
}
!0 = !{}
