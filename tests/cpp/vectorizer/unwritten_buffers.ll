; RUN: unwritten-buffers
; Loads from buffers that the kernel never writes are marked. What may point into another buffer is not.
; CHECK-LABEL: define void @kernel
; CHECK: load float, ptr addrspace(1) %x, align 4{{.*}} !simd.unwritten
; CHECK-NOT: simd.unwritten
define void @kernel(ptr %launch, i1 %which) {
  %x.plain = load ptr, ptr %launch, !invariant.load !0
  %x = addrspacecast ptr %x.plain to ptr addrspace(1)
  %field = getelementptr i8, ptr %launch, i64 8
  %out.plain = load ptr, ptr %field, !invariant.load !0
  %out = addrspacecast ptr %out.plain to ptr addrspace(1)
  %value = load float, ptr addrspace(1) %x
  %before = load float, ptr addrspace(1) %out
  %either = select i1 %which, ptr addrspace(1) %x, ptr addrspace(1) %out
  %other = load float, ptr addrspace(1) %either
  %volatile = load volatile float, ptr addrspace(1) %out
  store float %value, ptr addrspace(1) %out
  ret void
}
!0 = !{}
!separate_buffers = !{!0}
