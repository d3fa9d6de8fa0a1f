; RUN: check-symbols
; The library's own functions, LLVM's, and unused ones need no definition.
; CHECK: define void @kernel
define void @kernel() {
  call void @__metal_barrier(i32 1, i32 2)
  %root = call float @llvm.sqrt.f32(float 2.0)
  ret void
}
declare void @__metal_barrier(i32, i32)
declare float @llvm.sqrt.f32(float)
declare void @_Z7missingi(i32)
