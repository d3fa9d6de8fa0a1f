; RUN: element-alignment
; Vectors in buffers and threadgroup memory may lie at the address of any element.
; CHECK: load <4 x i32>, ptr addrspace(1) %in, align 4
; CHECK: store <4 x i32> %vector, ptr addrspace(3) %tile, align 4
; CHECK: load <4 x half>, ptr addrspace(2) %table, align 2
define void @kernel.body(ptr addrspace(1) %in, ptr addrspace(2) %table, ptr addrspace(3) %tile) {
  %vector = load <4 x i32>, ptr addrspace(1) %in, align 16
  store <4 x i32> %vector, ptr addrspace(3) %tile, align 16
  %halves = load <4 x half>, ptr addrspace(2) %table, align 8
  ret void
}
