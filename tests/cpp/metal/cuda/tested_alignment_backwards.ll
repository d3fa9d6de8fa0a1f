; RUN: nvptx-tested-alignment
; Elements read backwards: the lowest address is tested, of what is loaded last.
; CHECK-LABEL: define ptx_kernel half @backwards(
; CHECK: %[[LOWEST:[0-9]+]] = getelementptr i8, ptr addrspace(1) %a, i64 -6
; CHECK-NEXT: ptrtoint ptr addrspace(1) %[[LOWEST]] to i64
; CHECK: %[[FOUR:.*]] = load <4 x half>, ptr addrspace(1) %[[LOWEST]], align 8
; CHECK: extractelement <4 x half> %[[FOUR]], i64 0
define ptx_kernel half @backwards(ptr addrspace(1) %a) {
  %b = getelementptr i8, ptr addrspace(1) %a, i64 -2
  %c = getelementptr i8, ptr addrspace(1) %a, i64 -4
  %d = getelementptr i8, ptr addrspace(1) %a, i64 -6
  %va = load half, ptr addrspace(1) %a, align 2
  %vb = load half, ptr addrspace(1) %b, align 2
  %vc = load half, ptr addrspace(1) %c, align 2
  %vd = load half, ptr addrspace(1) %d, align 2
  %x = fadd half %va, %vb
  %y = fadd half %vc, %vd
  %z = fadd half %x, %y
  ret half %z
}
