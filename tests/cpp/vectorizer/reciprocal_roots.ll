; RUN: reciprocal-roots 32 x86-64-v4
; If reciprocals are allowed, one step from the processor's estimate replaces a square root and a division.
; CHECK-LABEL: define <32 x float> @two_registers
; CHECK-NOT: sqrt.v32f32
; CHECK-COUNT-2: call <16 x float> @llvm.x86.avx512.rsqrt14.ps.512
; CHECK: %[[Y:.*]] = shufflevector <16 x float> %{{.*}}, <16 x float> %{{.*}}, <32 x i32>
; CHECK: %[[R:.*]] = call <32 x float> @llvm.fma.v32f32
; CHECK: %[[ROOT:.*]] = call <32 x float> @llvm.fma.v32f32(<32 x float> %[[Y]], <32 x float> %[[R]], <32 x float> %[[Y]])
; CHECK: %[[NUMBER:.*]] = fcmp ord <32 x float> %[[R]], %[[R]]
; CHECK: %result = select <32 x i1> %[[NUMBER]], <32 x float> %[[ROOT]], <32 x float> %[[Y]]
; CHECK-NEXT: ret <32 x float> %result
define <32 x float> @two_registers(<32 x float> %x) {
  %root = call arcp <32 x float> @llvm.sqrt.v32f32(<32 x float> %x)
  %result = fdiv arcp <32 x float> splat (float 1.0), %root
  ret <32 x float> %result
}
; Other numerators become factors, and the root stays if it has another use.
; CHECK-LABEL: define float @numerator
; CHECK: %root = call float @llvm.sqrt.f32(float %x)
; CHECK: %[[FOUR:.*]] = insertelement <4 x float> poison, float %x, i64 0
; CHECK: call <4 x float> @llvm.x86.avx512.rsqrt14.ps.128(<4 x float> %[[FOUR]]
; CHECK: %[[ROOT:.*]] = select i1
; CHECK: %result = fmul float %a, %[[ROOT]]
define float @numerator(float %a, float %x) {
  %root = call float @llvm.sqrt.f32(float %x)
  %result = fdiv arcp float %a, %root
  %both = fadd float %result, %root
  ret float %both
}
; CHECK-LABEL: define <3 x float> @three
; CHECK: shufflevector <3 x float> %x, <3 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 poison>
; CHECK: call <4 x float> @llvm.x86.avx512.rsqrt14.ps.128
define <3 x float> @three(<3 x float> %x) {
  %root = call <3 x float> @llvm.sqrt.v3f32(<3 x float> %x)
  %result = fdiv arcp <3 x float> splat (float 1.0), %root
  ret <3 x float> %result
}
; Exact quotients stay, and so do doubles.
; CHECK-LABEL: define <16 x float> @exact
; CHECK-NEXT: call <16 x float> @llvm.sqrt
; CHECK-NEXT: fdiv <16 x float>
define <16 x float> @exact(<16 x float> %x) {
  %root = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %x)
  %result = fdiv <16 x float> splat (float 1.0), %root
  ret <16 x float> %result
}
; CHECK-LABEL: define double @wide
; CHECK: fdiv arcp double
define double @wide(double %x) {
  %root = call double @llvm.sqrt.f64(double %x)
  %result = fdiv arcp double 1.0, %root
  ret double %result
}
