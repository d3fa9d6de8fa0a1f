; RUN: nvptx-divisions
; Divisions that may use a reciprocal become the GPU's instructions; others stay.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK-NEXT: %[[QUOTIENT:.*]] = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %x, float %y)
; CHECK-NEXT: store float %[[QUOTIENT]]
; CHECK-NEXT: %[[RECIPROCAL:.*]] = call float @llvm.nvvm.rcp.approx.ftz.f(float %y)
; CHECK-NEXT: store float %[[RECIPROCAL]]
; CHECK-NEXT: call float @llvm.sqrt.f32(float %x)
; CHECK-NEXT: %[[ROOT:.*]] = call float @llvm.nvvm.rsqrt.approx.f(float %x)
; CHECK-NEXT: store float %[[ROOT]]
; CHECK-NEXT: %[[EXACT:.*]] = fdiv float %x, %y
; CHECK-NEXT: store float %[[EXACT]]
; CHECK-NEXT: fdiv arcp half
define ptx_kernel void @kernel(ptr addrspace(1) %out, float %x, float %y, half %h) {
  %quotient = fdiv fast float %x, %y
  store float %quotient, ptr addrspace(1) %out
  %reciprocal = fdiv arcp float 1.0, %y
  store float %reciprocal, ptr addrspace(1) %out
  %root = call float @llvm.sqrt.f32(float %x)
  %rsqrt = fdiv arcp float 1.0, %root
  store float %rsqrt, ptr addrspace(1) %out
  %exact = fdiv float %x, %y
  store float %exact, ptr addrspace(1) %out
  %narrow = fdiv arcp half %h, %h
  store half %narrow, ptr addrspace(1) %out
  ret void
}
declare float @llvm.sqrt.f32(float)
