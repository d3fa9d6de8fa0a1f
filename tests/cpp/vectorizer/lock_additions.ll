; RUN: lock-additions
; Scalar code takes locks for additions to floats, too: vector code of the same kernel takes them, and would overwrite
; additions without a lock.
; CHECK-LABEL: define float @adds
; CHECK-NEXT: %[[TO:.*]] = addrspacecast ptr addrspace(1) %out to ptr
; CHECK-NEXT: %[[OLD:.*]] = call float @metal_cpu_atomic_add_f32(ptr %group, ptr %[[TO]], float 1.0
; Threadgroup memory needs no locks, as a threadgroup runs on one core.
; CHECK-NEXT: %tile.old = atomicrmw fadd ptr addrspace(3) %tile
; CHECK-NEXT: ret float %[[OLD]]
define float @adds(ptr %group, ptr addrspace(1) %out, ptr addrspace(3) %tile) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float 1.0 monotonic, align 4
  %tile.old = atomicrmw fadd ptr addrspace(3) %tile, float 1.0 monotonic, align 4
  ret float %old
}
; There are no locks if the kernel changes device memory atomically in another way, which would not take the lock.
; CHECK-LABEL: define void @exchanges
; CHECK-NEXT: %old = atomicrmw fadd
define void @exchanges(ptr %group, ptr addrspace(1) %out) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float 1.0 monotonic, align 4
  %other = atomicrmw xchg ptr addrspace(1) %out, float 1.0 monotonic, align 4
  ret void
}
; CHECK-LABEL: define void @compares
; CHECK-NEXT: %old = atomicrmw fadd
define void @compares(ptr %group, ptr addrspace(1) %out) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float 1.0 monotonic, align 4
  %other = cmpxchg ptr addrspace(1) %out, i32 0, i32 1 monotonic monotonic
  ret void
}
; Processors have instructions for additions to integers and halves.
; CHECK-LABEL: define void @integers
; CHECK-NEXT: %old = atomicrmw add
define void @integers(ptr %group, ptr addrspace(1) %out) {
  %old = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic, align 4
  ret void
}
