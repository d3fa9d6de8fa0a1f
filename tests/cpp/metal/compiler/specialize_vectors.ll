; RUN: specialize
; Constants that hold vectors are computed component by component, and copies of them, too.
; CHECK: @scale = internal addrspace(2) constant %vec { <3 x float> <float 1.000000e+00, float 2.000000e+00, float 4.000000e+00> }
; CHECK: @doubled = internal {{.*}} <{ [4 x float] [float 2.000000e+00, float 4.000000e+00, float 8.000000e+00, float {{undef|poison}}] }>, align 16
; CHECK: @small = internal {{.*}} [4 x half] [half 0xH3C00, half 0xH4000, half 0xH4400, half 0xH4400]
; CHECK: @copied = internal {{.*}} [4 x half] [half 0xH3C00, half 0xH4000, half 0xH4400, half 0xH4400]
%vec = type { <3 x float> }
@scale = external addrspace(2) constant %vec
@doubled = internal addrspace(2) global %vec zeroinitializer, align 16
@small = internal addrspace(2) global <4 x half> zeroinitializer
@copied = internal addrspace(2) global <4 x half> zeroinitializer
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @compute, ptr null }]
define internal void @compute() {
  %value = load <3 x float>, ptr addrspace(2) @scale
  %double = fmul <3 x float> %value, <float 2.0, float 2.0, float 2.0>
  %padded = shufflevector <3 x float> %double, <3 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 poison>
  store <4 x float> %padded, ptr addrspace(2) @doubled
  %four = shufflevector <3 x float> %value, <3 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %half = fptrunc <4 x float> %four to <4 x half>
  store <4 x half> %half, ptr addrspace(2) @small
  %bits = load i64, ptr addrspace(2) @small
  store i64 %bits, ptr addrspace(2) @copied
  ret void
}
define float @kernel() {
  %value = load volatile <3 x float>, ptr addrspace(2) @doubled
  %first = load volatile <3 x float>, ptr addrspace(2) @scale
  %small = load volatile <4 x half>, ptr addrspace(2) @small
  %copied = load volatile <4 x half>, ptr addrspace(2) @copied
  ret float 0.0
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
!constants = !{!1}
!1 = !{!"scale", i32 0, !"float", i64 1065353216, i64 1073741824, i64 1082130432}
