; RUN: nvptx-tidy
; Functions for lane operations are inlined and removed.
; CHECK-NOT: @operation
; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK-NEXT: store i32 3, ptr addrspace(1) %out
; CHECK-NEXT: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %three = call i32 @operation(i32 1)
  store i32 %three, ptr addrspace(1) %out, align 4
  ret void
}
define internal i32 @operation(i32 %value) alwaysinline {
  %sum = add i32 %value, 2
  ret i32 %sum
}
