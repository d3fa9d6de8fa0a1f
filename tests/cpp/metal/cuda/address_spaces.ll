; RUN: nvptx-retarget,nvptx-spaces
; Constant memory becomes global memory that no thread writes, so loads are invariant. Pointers to any memory become
; generic, threadgroup memory becomes shared memory.
; CHECK: @shared = internal addrspace(3) global
; CHECK-LABEL: define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %in)
; CHECK: load float, ptr addrspace(1) %in, {{.*}}!invariant.load
; CHECK: store float %value, ptr addrspace(3) @shared
; CHECK: %any = addrspacecast ptr addrspace(1) %out to ptr
; CHECK-NEXT: load float, ptr %any, align 4{{$}}
@shared = internal addrspace(3) global float undef
define void @kernel(ptr addrspace(1) %out, ptr addrspace(2) %in) {
  %value = load float, ptr addrspace(2) %in, align 4
  store float %value, ptr addrspace(3) @shared, align 4
  %any = addrspacecast ptr addrspace(1) %out to ptr addrspace(4)
  %other = load float, ptr addrspace(4) %any, align 4
  store float %other, ptr addrspace(1) %out, align 4
  ret void
}
