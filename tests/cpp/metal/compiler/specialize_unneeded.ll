; RUN: specialize
; Constants that only other kernels of the source use need no value.
; CHECK: @of_another
; CHECK-LABEL: define i32 @kernel
; CHECK-NEXT: load i32, ptr addrspace(2) @needed
@needed = internal addrspace(2) constant i32 3
@of_another = internal addrspace(2) global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @compute, ptr null }]
define internal void @compute() {
  %value = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  store volatile i32 %value, ptr addrspace(2) @of_another
  ret void
}
define i32 @kernel() {
  %value = load i32, ptr addrspace(2) @needed
  ret i32 %value
}
declare i32 @__metal_get_thread_index_in_threadgroup(i32)
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
