; RUN: define-arithmetic
; A float that is out of range becomes the nearest integer, and NaN becomes 0, as on GPUs.
; CHECK-LABEL: define i32 @saturates
; CHECK-NEXT: call i32 @llvm.fptosi.sat.i32.f32(float %x)
define i32 @saturates(float %x) {
  %number = fptosi float %x to i32
  ret i32 %number
}
; Halves are converted through float, as the code for halves themselves gives -32768 for NaN.
; CHECK-LABEL: define i16 @from_half
; CHECK-NEXT: %[[WIDE:.*]] = fpext half %x to float
; CHECK-NEXT: call i16 @llvm.fptoui.sat.i16.f32(float %[[WIDE]])
define i16 @from_half(half %x) {
  %number = call i16 @llvm.fptoui.sat.i16.f16(half %x)
  ret i16 %number
}
declare i16 @llvm.fptoui.sat.i16.f16(half)
; Halves and bfloats are rounded after the product: a multiply-add that rounds once would give other results than a GPU.
; CHECK-LABEL: define <2 x half> @rounds_twice
; CHECK-NEXT: %[[PRODUCT:.*]] = fmul <2 x half> %x, %y
; CHECK-NEXT: fadd <2 x half> %[[PRODUCT]], %z
define <2 x half> @rounds_twice(<2 x half> %x, <2 x half> %y, <2 x half> %z) {
  %sum = call contract <2 x half> @llvm.fmuladd.v2f16(<2 x half> %x, <2 x half> %y, <2 x half> %z)
  ret <2 x half> %sum
}
declare <2 x half> @llvm.fmuladd.v2f16(<2 x half>, <2 x half>, <2 x half>)
; Multiply-adds of floats stay, as do fused ones that the program calls, and operations that are defined.
; CHECK-LABEL: define float @stays
; CHECK-NEXT: %sum = call float @llvm.fmuladd.f32
; CHECK-NEXT: %fused = call half @llvm.fma.f16
; CHECK-NEXT: %wide = fpext half %fused to float
; CHECK-NEXT: %number = call i32 @llvm.fptosi.sat.i32.f32(float %wide)
; CHECK-NEXT: %back = sitofp i32 %number to float
define float @stays(float %x, half %y) {
  %sum = call float @llvm.fmuladd.f32(float %x, float %x, float %x)
  %fused = call half @llvm.fma.f16(half %y, half %y, half %y)
  %wide = fpext half %fused to float
  %number = call i32 @llvm.fptosi.sat.i32.f32(float %wide)
  %back = sitofp i32 %number to float
  %result = fadd float %sum, %back
  ret float %result
}
declare float @llvm.fmuladd.f32(float, float, float)
declare half @llvm.fma.f16(half, half, half)
declare i32 @llvm.fptosi.sat.i32.f32(float)
