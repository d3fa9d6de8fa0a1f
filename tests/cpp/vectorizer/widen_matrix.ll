; RUN: widen 32
; A product of matrices that the lanes hold together is a call of a function with vector code.
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: call void @simd.multiply.accumulate(
; CHECK: %[[LOW:.*]] = load <32 x i32>
; CHECK: store <32 x i32> %[[LOW]], ptr addrspace(1)
; CHECK-LABEL: define internal void @simd.multiply.accumulate(
; CHECK: call <8 x float> @llvm.fmuladd.v8f32
define void @kernel(ptr addrspace(1) %out, i32 %lane, float %va, float %vb, float %vc, float %vd) {
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %va, float %vb, float %vc, float %vd, float 0.0, float 0.0)
  %low = trunc i64 %both to i32
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %low, ptr addrspace(1) %to
  ret void
}
