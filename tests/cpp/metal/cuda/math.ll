; RUN: nvptx-math
; The GPU's instructions compute fast exponentials and logarithms.
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: %[[EXPONENT:.*]] = fmul float %x, 0x3FF7154760000000
; CHECK-NEXT: %[[POWER:.*]] = call float @llvm.nvvm.ex2.approx.ftz.f(float %[[EXPONENT]])
; CHECK-NEXT: %[[LOG:.*]] = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
; CHECK-NEXT: store float %[[POWER]]
; CHECK-NEXT: store float %[[LOG]]
; CHECK-NOT: __metal_math
define void @kernel(ptr addrspace(1) %out, float %x) {
  %power = call float @__metal_math_exp(float %x, float 0x3FF7154760000000)
  %log = call float @__metal_math_log2(float %x)
  store float %power, ptr addrspace(1) %out
  store float %log, ptr addrspace(1) %out
  ret void
}
define internal float @__metal_math_exp(float %x, float %log2.base) noinline {
  ret float %x
}
define internal float @__metal_math_log2(float %x) noinline {
  ret float %x
}
