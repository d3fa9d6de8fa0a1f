; RUN: separate-memory
; If buffers may overlap, all of device memory is one scope.
; CHECK-LABEL: define void @kernel
; CHECK: load float, ptr addrspace(1) %x, align 4, !alias.scope ![[DEVICE:[0-9]+]], !noalias ![[SHARED:[0-9]+]]
; CHECK: store float %value, ptr addrspace(1) %out, align 4, !alias.scope ![[DEVICE]], !noalias ![[SHARED]]
; CHECK: store float %value, ptr addrspace(3) %shared, align 4, !alias.scope ![[SHARED]], !noalias ![[DEVICE]]
define void @kernel(ptr %launch, ptr addrspace(3) %shared) {
  %x.plain = load ptr, ptr %launch, !invariant.load !0
  %x = addrspacecast ptr %x.plain to ptr addrspace(1)
  %field = getelementptr i8, ptr %launch, i64 8
  %out.plain = load ptr, ptr %field, !invariant.load !0
  %out = addrspacecast ptr %out.plain to ptr addrspace(1)
  %value = load float, ptr addrspace(1) %x
  store float %value, ptr addrspace(1) %out
  store float %value, ptr addrspace(3) %shared
  ret void
}
!0 = !{}
