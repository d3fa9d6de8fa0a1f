; RUN: specialize
; No code runs before a kernel, so a constant that cannot be computed here would be 0.
; CHECK: error: the value of 'computed' cannot be computed before the kernel runs
@_ZL8computed = internal addrspace(2) global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @compute, ptr null }]
define internal void @compute() {
  %value = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  store i32 %value, ptr addrspace(2) @_ZL8computed
  ret void
}
define i32 @kernel() {
  %value = load i32, ptr addrspace(2) @_ZL8computed
  ret i32 %value
}
declare i32 @__metal_get_thread_index_in_threadgroup(i32)
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
