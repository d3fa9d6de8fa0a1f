; RUN: nvptx-found-alignment
; An access gets the alignment that its address has, however many steps compute it.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: store i16 1, ptr addrspace(1) %there, align 16
; CHECK: store i16 1, ptr addrspace(1) %odd, align 2
define ptx_kernel void @kernel(ptr addrspace(1) align 16 %out, i32 %i) {
  %wide = zext i32 %i to i64
  %a = getelementptr [8 x half], ptr addrspace(1) %out, i64 %wide
  %b = getelementptr [8 x half], ptr addrspace(1) %a, i64 %wide
  %c = getelementptr [8 x half], ptr addrspace(1) %b, i64 %wide
  %d = getelementptr [8 x half], ptr addrspace(1) %c, i64 %wide
  %e = getelementptr [8 x half], ptr addrspace(1) %d, i64 %wide
  %f = getelementptr [8 x half], ptr addrspace(1) %e, i64 %wide
  %there = getelementptr [8 x half], ptr addrspace(1) %f, i64 %wide
  %odd = getelementptr half, ptr addrspace(1) %there, i64 %wide
  store i16 1, ptr addrspace(1) %there, align 2
  store i16 1, ptr addrspace(1) %odd, align 2
  ret void
}
