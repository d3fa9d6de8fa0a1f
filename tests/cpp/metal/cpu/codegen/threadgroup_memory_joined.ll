; RUN: threadgroup-memory
; Threadgroups that run as one have their variables one behind the other, each as aligned as in the first one.
; CHECK-LABEL: define void @kernel.body(ptr %group
; CHECK: %[[ALL:.*]] = addrspacecast ptr %{{.*}} to ptr addrspace(3)
; CHECK-NEXT: %[[NUMBER:.*]] = udiv i32 %y, 4
; CHECK-NEXT: %[[BEFORE:.*]] = mul nuw i32 %[[NUMBER]], 128
; CHECK-NEXT: %[[OWN:.*]] = getelementptr inbounds i8, ptr addrspace(3) %[[ALL]], i32 %[[BEFORE]]
; CHECK-NEXT: %[[FIRST:.*]] = getelementptr inbounds i8, ptr addrspace(3) %[[OWN]], i64 0
; CHECK-NEXT: %[[SECOND:.*]] = getelementptr inbounds i8, ptr addrspace(3) %[[OWN]], i64 64
; CHECK-NEXT: store i32 1, ptr addrspace(3) %[[FIRST]]
; CHECK-NEXT: store i32 2, ptr addrspace(3) %[[SECOND]]
@first = internal addrspace(3) global [3 x i32] undef, align 4
@second = internal addrspace(3) global [5 x i32] undef, align 64
define void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index) {
  store i32 1, ptr addrspace(3) @first
  store i32 2, ptr addrspace(3) @second
  ret void
}
!joined = !{!0}
!0 = !{i32 2, i32 1, i32 4}
