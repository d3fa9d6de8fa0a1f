; RUN: check-symbols
; A function that is declared and not defined is an error. Otherwise it would be missing when the kernel is loaded, or
; be taken from the process.
; CHECK: error: function 'missing(int)' is declared but not defined
define void @kernel() {
  call void @_Z7missingi(i32 1)
  ret void
}
declare void @_Z7missingi(i32)
