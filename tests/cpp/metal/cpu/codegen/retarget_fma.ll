; RUN: retarget 4 x86-64-v2
; Without fused multiply-adds, a fast one becomes a product and a sum. Adding a large number and subtracting it again
; rounds. If both were reassociated, nothing would be rounded.
; CHECK-LABEL: define float @rounds
; CHECK: %shifted = call nnan float @llvm.fma.f32
; CHECK-NEXT: %rounded = fsub nnan float %shifted
; CHECK-NEXT: %other = fsub reassoc nnan float %x
define float @rounds(float %x) {
  %shifted = call reassoc nnan float @llvm.fma.f32(float %x, float 2.0, float 8388608.0)
  %rounded = fsub reassoc nnan float %shifted, 8388608.0
  %other = fsub reassoc nnan float %x, %rounded
  ret float %other
}
declare float @llvm.fma.f32(float, float, float)
