; RUN: nvptx-matrices
; Loads and stores of matrices are inlined: they are calls only for the sake of code that accesses whole matrices. Loads
; of 16-bit elements from threadgroup memory stay, as a warp has instructions for them.
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: load float, ptr addrspace(1) %a
; CHECK-NEXT: store float
; CHECK-NEXT: call i32 @__metal_simdgroup_load_threadgroup_16(
; CHECK-NEXT: store i32
; CHECK-NEXT: ret void
; CHECK: define {{.*}}i32 @__metal_simdgroup_load_threadgroup_16(
define void @kernel(ptr addrspace(1) %a, ptr addrspace(3) %tile, ptr addrspace(1) %out) {
  %element = call float @__metal_simdgroup_load_f32(ptr addrspace(1) %a)
  call void @__metal_simdgroup_store_f32(ptr addrspace(1) %a, float %element)
  %pair = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) %tile, i64 8, i64 1, i32 0)
  store i32 %pair, ptr addrspace(1) %out
  ret void
}
define internal float @__metal_simdgroup_load_f32(ptr addrspace(1) %from) noinline {
  %element = load float, ptr addrspace(1) %from
  ret float %element
}
define internal void @__metal_simdgroup_store_f32(ptr addrspace(1) %to, float %element) noinline {
  store float %element, ptr addrspace(1) %to
  ret void
}
define internal i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) %p, i64 %row, i64 %column, i32 %lane) noinline {
  %pair = load i32, ptr addrspace(3) %p
  ret i32 %pair
}
