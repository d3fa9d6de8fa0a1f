; RUN: specialize
; Function constants get the given values, bit by bit. One without a value becomes 0 if the source tests whether there
; is one. Constants that depend on them are computed.
; CHECK: @count = internal addrspace(2) constant i32 7
; CHECK: @scale = internal addrspace(2) constant float 1.500000e+00
; CHECK: @optional = internal addrspace(2) constant i32 0
; Other variables without a value are no function constants.
; CHECK: @elsewhere = external addrspace(2) constant i32
; CHECK: @twice = internal addrspace(2) global i32 14
; CHECK-LABEL: define i1 @kernel
; CHECK: call void @use(i1 true)
; CHECK: call void @use(i1 false)
@count = external addrspace(2) constant i32
@scale = external addrspace(2) constant float
@optional = external addrspace(2) constant i32
@elsewhere = external addrspace(2) constant i32
@twice = internal addrspace(2) global i32 undef
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @compute, ptr null }]
define internal void @compute() {
  %value = load i32, ptr addrspace(2) @count
  %double = mul i32 %value, 2
  store i32 %double, ptr addrspace(2) @twice
  ret void
}
define i1 @kernel(ptr %out) {
  %given = call i1 @__metal_function_constant_defined(ptr addrspace(2) @count)
  call void @use(i1 %given)
  %other = call i1 @__metal_function_constant_defined(ptr addrspace(2) @optional)
  call void @use(i1 %other)
  %a = load volatile i32, ptr addrspace(2) @twice
  %b = load volatile float, ptr addrspace(2) @scale
  %c = load volatile i32, ptr addrspace(2) @elsewhere
  %d = load volatile i32, ptr addrspace(2) @count
  %e = load volatile i32, ptr addrspace(2) @optional
  ret i1 %given
}
declare i1 @__metal_function_constant_defined(ptr addrspace(2))
declare void @use(i1)
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
!constants = !{!1, !2, !3}
!1 = !{!"count", i32 0, !"int", i64 7}
!2 = !{!"scale", i32 1, !"float", i64 1069547520}
!3 = !{!"optional", i32 2, !"int"}
