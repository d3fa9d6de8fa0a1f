; RUN: interchange-loop
; The loop compares the number of the iteration that ends with a limit that is a step smaller. So the one before the
; iteration's own number tells whether it runs, and there is one iteration more than numbers below the limit.
; CHECK-LABEL: define internal void @kernel.iteration(
; CHECK: %[[DISTANCE:.*]] = mul nuw i32 4096, %iteration
; CHECK-NEXT: %[[NUMBER:.*]] = add nuw i32 %x, %[[DISTANCE]]
; CHECK-NEXT: %[[BEFORE:.*]] = sub i32 %[[NUMBER]], 4096
; CHECK-NEXT: %[[IS_FIRST:.*]] = icmp eq i32 %iteration, 0
; CHECK-NEXT: %[[RUNS:.*]] = icmp ult i32 %[[BEFORE]], 995904
; CHECK-NEXT: or i1 %[[IS_FIRST]], %[[RUNS]]
; CHECK: store float
; CHECK-LABEL: define internal i32 @kernel.iterations(
; CHECK: %[[SMALLER:.*]] = udiv i64 %{{.*}}, 4096
; CHECK-NEXT: %[[MORE:.*]] = add i64 %[[SMALLER]], 1
; CHECK-NEXT: add i64 %[[MORE]], 1
; CHECK: ret i32
define void @stride(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
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
  %again = icmp ult i32 %k, 995904
  br i1 %again, label %loop, label %done
done:
  ret void
}
!0 = !{}
