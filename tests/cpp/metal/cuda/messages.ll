; RUN: nvptx-messages
; Kernels that print messages are refused.
; CHECK: error: messages of kernels (os_log, printf) are printed on CPUs only
define void @kernel() {
  call void (i32, ptr, ptr, ptr, ...) @__metal_log(i32 0, ptr null, ptr null, ptr null)
  ret void
}
declare void @__metal_log(i32, ptr, ptr, ptr, ...)
