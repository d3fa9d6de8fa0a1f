; RUN: widen 32
; Additions take locks if all atomic changes of device memory do so: the processor's own operations would ignore the
; locks.
; CHECK-LABEL: define internal void @additions.wide
; CHECK: call float @metal_cpu_atomic_add_f32
; CHECK-NOT: atomicrmw
; CHECK: ret void
define void @additions(ptr %group, ptr addrspace(1) %out, float %vary) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float %vary monotonic, align 4
  ret void
}

; CHECK-LABEL: define internal void @beside_compare_exchange.wide
; CHECK-NOT: metal_cpu_atomic_add
; CHECK: atomicrmw fadd
; CHECK: cmpxchg
; CHECK-NOT: metal_cpu_atomic_add
; CHECK: ret void
define void @beside_compare_exchange(ptr %group, ptr addrspace(1) %out, float %vary, i32 %seen) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float %vary monotonic, align 4
  %pair = cmpxchg ptr addrspace(1) %out, i32 %seen, i32 7 monotonic monotonic, align 4
  ret void
}

; CHECK-LABEL: define internal void @beside_integers.wide
; CHECK-NOT: metal_cpu_atomic_add
; CHECK: atomicrmw fadd
; CHECK: atomicrmw or
; CHECK: ret void
define void @beside_integers(ptr %group, ptr addrspace(1) %out, float %vary) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float %vary monotonic, align 4
  %bits = atomicrmw or ptr addrspace(1) %out, i32 1 monotonic, align 4
  ret void
}

; Operations in threadgroup memory do not count.
; CHECK-LABEL: define internal void @beside_threadgroup_memory.wide
; CHECK: call float @metal_cpu_atomic_add_f32
; CHECK-NOT: atomicrmw fadd
; CHECK: cmpxchg
; CHECK: ret void
define void @beside_threadgroup_memory(ptr %group, ptr addrspace(1) %out, ptr addrspace(3) %own,
                                       float %vary, i32 %seen) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float %vary monotonic, align 4
  %pair = cmpxchg ptr addrspace(3) %own, i32 %seen, i32 7 monotonic monotonic, align 4
  ret void
}
