; RUN: specialize
; A constant that the kernel does not test with is_function_constant_defined needs a value.
; CHECK: error: [kernel] function constant 4 ('count') needs a value
@count = external addrspace(2) constant i32
define void @kernel() {
  %value = load i32, ptr addrspace(2) @count
  ret void
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
!constants = !{!1}
!1 = !{!"count", i32 4, !"int"}
