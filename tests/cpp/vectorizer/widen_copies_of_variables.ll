; RUN: widen 4
; Private variables have no margins. The lanes' copies of one element can be read as one block; different elements are
; read only by active lanes.
declare void @simd.mask(i1)
; CHECK-LABEL: define internal void @same_element.wide
; CHECK: load <4 x float>, ptr
; CHECK-NOT: masked.gather
define void @same_element(ptr addrspace(1) %out, i32 %lane, i64 %i, i1 %v) {
  %copies = alloca [32 x i8], align 64, !simd.copies !0
  call void @simd.mask(i1 %v)
  %row = mul i64 %i, 16
  %element = getelementptr i8, ptr %copies, i64 %row
  %place = zext i32 %lane to i64
  %at = getelementptr float, ptr %element, i64 %place
  %value = load float, ptr %at
  store float %value, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define internal void @own_element.wide
; CHECK-NOT: load <4 x float>, ptr %{{.*}}, align 4
; CHECK: call void @simd.load.lanes
define void @own_element(ptr addrspace(1) %out, i32 %lane, i1 %v) {
  %copies = alloca [32 x i8], align 64, !simd.copies !0
  call void @simd.mask(i1 %v)
  %place = zext i32 %lane to i64
  %row = mul i64 %place, 16
  %element = getelementptr i8, ptr %copies, i64 %row
  %at = getelementptr float, ptr %element, i64 %place
  %value = load float, ptr %at
  store float %value, ptr addrspace(1) %out
  ret void
}
!0 = !{i64 4}
