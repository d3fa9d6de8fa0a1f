; RUN: widen 4
; For one address, the lanes' operands are combined first and one operation is atomic. For different addresses, the
; operations run lane by lane.
; CHECK-LABEL: define internal void @one.wide
; CHECK: add <2 x i32>
; CHECK: %[[SUM:.*]] = extractelement
; CHECK: atomicrmw add ptr addrspace(1) %out, i32 %[[SUM]]
define void @one(ptr addrspace(1) %out, i32 %vary) {
  %old = atomicrmw add ptr addrspace(1) %out, i32 %vary monotonic
  ret void
}
; CHECK-LABEL: define internal void @several.wide
; CHECK: lane.body:
; CHECK: %[[OPERAND:.*]] = load i32, ptr
; CHECK: load i32, ptr
; CHECK: %[[AT:.*]] = getelementptr [4 x i8], ptr addrspace(1) %{{.*}}, i64
; CHECK: atomicrmw umax ptr addrspace(1) %[[AT]], i32 %[[OPERAND]]
; CHECK: br label %lane
define void @several(ptr addrspace(1) %out, i32 %vary) {
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %vary
  %old = atomicrmw umax ptr addrspace(1) %at, i32 %vary monotonic
  ret void
}
; The operand of the only active lane needs no other lane's.
; CHECK-LABEL: define internal void @of_one_lane.wide
; CHECK: %[[OWN:.*]] = extractelement <4 x i32> %vary, i64 2
; CHECK-NEXT: atomicrmw add ptr addrspace(1) %out, i32 %[[OWN]]
declare void @simd.mask(i1)
define void @of_one_lane(ptr addrspace(1) %out, i32 %lane, i32 %vary) {
  %is_third = icmp eq i32 %lane, 2
  call void @simd.mask(i1 %is_third)
  %old = atomicrmw add ptr addrspace(1) %out, i32 %vary monotonic
  ret void
}
