; RUN: nvptx-retarget
; The attributes of the processor that Clang compiled for are removed, and calls use the GPU's convention.
; CHECK: target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
; CHECK: target triple = "nvptx64-nvidia-cuda"
; CHECK-LABEL: define void @kernel()
; CHECK: call void @callee()
; CHECK-NOT: target-cpu
define spir_func void @kernel() "target-cpu"="x86-64" {
  call spir_func void @callee()
  ret void
}
declare spir_func void @callee()
