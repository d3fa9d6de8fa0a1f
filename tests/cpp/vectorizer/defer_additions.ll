; RUN: defer-additions
; Additions are deferred if the kernel does nothing else with their buffer.
; CHECK-LABEL: define void @sums
; CHECK: atomicrmw fadd ptr addrspace(1) %to, float %value monotonic, align 4, !simd.deferred
define void @sums(ptr %buffers, i64 %i) {
  %out.address = load ptr, ptr %buffers, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %in.place = getelementptr i8, ptr %buffers, i64 8
  %in.address = load ptr, ptr %in.place, !invariant.load !0
  %in = addrspacecast ptr %in.address to ptr addrspace(1)
  %from = getelementptr float, ptr addrspace(1) %in, i64 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  %old = atomicrmw fadd ptr addrspace(1) %to, float %value monotonic, align 4
  ret void
}

; They are not if the kernel uses the old value, reads the buffer, has a fence, or calls a function that may do this.
; CHECK-LABEL: define void @uses_result
; CHECK-NOT: simd.deferred
define void @uses_result(ptr %buffers, float %value) {
  %out.address = load ptr, ptr %buffers, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %old = atomicrmw fadd ptr addrspace(1) %out, float %value monotonic, align 4
  %at = getelementptr float, ptr addrspace(1) %out, i64 8
  %more = atomicrmw fadd ptr addrspace(1) %at, float %old monotonic, align 4
  ret void
}
define void @reads(ptr %buffers, float %value, i64 %i) {
  %out.address = load ptr, ptr %buffers, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %old = atomicrmw fadd ptr addrspace(1) %out, float %value monotonic, align 4
  %at = getelementptr float, ptr addrspace(1) %out, i64 %i
  %there = load atomic float, ptr addrspace(1) %at monotonic, align 4
  store float %there, ptr addrspace(1) %at, align 4
  ret void
}
define void @fence(ptr %buffers, float %value) {
  %out.address = load ptr, ptr %buffers, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %old = atomicrmw fadd ptr addrspace(1) %out, float %value monotonic, align 4
  fence seq_cst
  ret void
}
define void @calls(ptr %buffers, float %value) {
  %out.address = load ptr, ptr %buffers, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %old = atomicrmw fadd ptr addrspace(1) %out, float %value monotonic, align 4
  call void @fence(ptr %buffers, float %value)
  ret void
}

!0 = !{}
