; RUN: nvptx-messages
; A kernel that only could print messages is compiled.
; CHECK-NOT: error
; CHECK: define void @kernel()
define void @kernel() {
  ret void
}
declare void @__metal_log(i32, ptr, ptr, ptr, ...)
