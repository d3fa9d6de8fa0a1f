; RUN: nvptx-matrix-results,nvptx-tidy
; A product of matrices returns two floats, which loops carry as they are.
; CHECK-LABEL: define void @kernel(
; CHECK: %[[BOTH:.*]] = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(
; CHECK-DAG: extractvalue { float, float } %[[BOTH]], 0
; CHECK-DAG: extractvalue { float, float } %[[BOTH]], 1
; CHECK-NOT: i64
define void @kernel(ptr addrspace(1) %out, float %a) {
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %a, float %a, float %a, float %a, float 0.0, float 0.0)
  %low = trunc i64 %both to i32
  %first = bitcast i32 %low to float
  %rest = lshr i64 %both, 32
  %high = trunc i64 %rest to i32
  %second = bitcast i32 %high to float
  %sum = fadd float %first, %second
  store float %sum, ptr addrspace(1) %out
  ret void
}
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
