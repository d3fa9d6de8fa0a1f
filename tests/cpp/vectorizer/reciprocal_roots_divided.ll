; RUN: reciprocal-roots 16 x86-64-v3
; Without an accurate estimate, the processor divides. LLVM may only use its own in the fast math mode.
; CHECK-LABEL: define <16 x float> @divided
; CHECK: %result = fdiv <16 x float> {{.*}}, %root
define <16 x float> @divided(<16 x float> %x) {
  %root = call arcp <16 x float> @llvm.sqrt.v16f32(<16 x float> %x)
  %result = fdiv arcp <16 x float> splat (float 1.0), %root
  ret <16 x float> %result
}
; CHECK-LABEL: define <16 x float> @fast
; CHECK: fdiv fast <16 x float>
define <16 x float> @fast(<16 x float> %x) {
  %root = call fast <16 x float> @llvm.sqrt.v16f32(<16 x float> %x)
  %result = fdiv fast <16 x float> splat (float 1.0), %root
  ret <16 x float> %result
}
