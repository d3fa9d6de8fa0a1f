; RUN: nvptx-math
; The GPU's instructions compute fast exponentials and logarithms.
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: %[[EXPONENT:.*]] = fmul float %x, 0x3FF7154760000000
; CHECK-NEXT: %[[POWER:.*]] = call float @llvm.nvvm.ex2.approx.ftz.f(float %[[EXPONENT]])
; CHECK-NEXT: %[[LOG:.*]] = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
; CHECK-NEXT: store float %[[POWER]]
; CHECK-NEXT: %[[SUM:.*]] = call float @llvm.fma.f32(float %x, float 0x3FF7154760000000, float 0x4168000FE0000000)
; CHECK-NEXT: %[[LEAST:.*]] = call float @llvm.maxnum.f32(float %[[SUM]], float 0x4168000020000000)
; CHECK-NEXT: %[[BOTH:.*]] = call float @llvm.minnum.f32(float %[[LEAST]], float 0x4168001FC0000000)
; CHECK-NEXT: %[[N:.*]] = fsub float %[[BOTH]], 0x4168000FE0000000
; CHECK-NEXT: %[[MINUS:.*]] = fneg float %[[N]]
; CHECK-NEXT: %[[HIGH:.*]] = call float @llvm.fma.f32(float %x, float 0x3FF7154760000000, float %[[MINUS]])
; CHECK-NEXT: %[[R:.*]] = call float @llvm.fma.f32(float %x, float 0x3E54AE0C00000000, float %[[HIGH]])
; CHECK-NEXT: %[[PART:.*]] = call float @llvm.nvvm.ex2.approx.ftz.f(float %[[R]])
; CHECK-NEXT: %[[BITS:.*]] = bitcast float %[[BOTH]] to i32
; CHECK-NEXT: %[[SHIFTED:.*]] = shl i32 %[[BITS]], 23
; CHECK-NEXT: %[[SCALE:.*]] = bitcast i32 %[[SHIFTED]] to float
; CHECK-NEXT: %[[PRECISE:.*]] = fmul float %[[PART]], %[[SCALE]]
; CHECK-NEXT: store float %[[LOG]]
; CHECK-NEXT: store float %[[PRECISE]]
; CHECK-NOT: __metal_math
define void @kernel(ptr addrspace(1) %out, float %x) {
  %power = call float @__metal_math_exp(float %x, float 0x3FF7154760000000)
  %log = call float @__metal_math_log2(float %x)
  store float %power, ptr addrspace(1) %out
  %precise = call float @__metal_math_exp_precise(float %x)
  store float %log, ptr addrspace(1) %out
  store float %precise, ptr addrspace(1) %out
  ret void
}
define internal float @__metal_math_exp(float %x, float %log2.base) noinline {
  ret float %x
}
define internal float @__metal_math_log2(float %x) noinline {
  ret float %x
}
define internal float @__metal_math_exp_precise(float %x) noinline {
  ret float %x
}
