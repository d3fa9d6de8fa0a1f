; RUN: nvptx-tested-alignment
; Stores that may write the same bytes keep their order: to another address, and twice to one element.
; CHECK-LABEL: define ptx_kernel void @order(
; CHECK-NOT: ptrtoint
; CHECK: store float 1.0
; CHECK: store float 2.0
; CHECK: store float 3.0
; CHECK: store float 4.0
; CHECK: store float 5.0
; CHECK: store float 6.0
; CHECK: store float 7.0
; CHECK: ret void
define ptx_kernel void @order(ptr addrspace(1) %a, ptr addrspace(1) %unknown) {
  %b = getelementptr i8, ptr addrspace(1) %a, i64 4
  %across = getelementptr i8, ptr addrspace(1) %a, i64 2
  store float 1.0, ptr addrspace(1) %a, align 4
  store float 2.0, ptr addrspace(1) %unknown, align 4
  store float 3.0, ptr addrspace(1) %b, align 4
  store float 4.0, ptr addrspace(1) %b, align 4
  store float 5.0, ptr addrspace(1) %across, align 2
  store float 6.0, ptr addrspace(1) %a, align 4
  store float 7.0, ptr addrspace(1) %across, align 2
  ret void
}
