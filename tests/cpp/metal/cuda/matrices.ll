; RUN: nvptx-matrices
; Loads and stores of matrices are inlined: they are calls only for the vectoriser's sake.
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: load float, ptr addrspace(1) %a
; CHECK-NEXT: store float
; CHECK-NEXT: ret void
; CHECK-NOT: define
define void @kernel(ptr addrspace(1) %a) {
  %element = call float @__metal_simdgroup_load_f32(ptr addrspace(1) %a)
  call void @__metal_simdgroup_store_f32(ptr addrspace(1) %a, float %element)
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
