; RUN: widen 4
; A threadgroup barrier becomes one for gangs. It is convergent, so that LLVM does not make a copy of it for gangs that
; take one way and another copy for the others. A SIMD-group barrier is nothing, as lanes run in lockstep.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: store volatile i32 1
; CHECK-NEXT: call void @simd.barrier()
; CHECK-NEXT: store volatile i32 2
; CHECK-NEXT: store volatile i32 3
; CHECK-NEXT: call void @simd.barrier(), !simd.descending
; CHECK: declare void @simd.barrier() #[[WAITS:[0-9]+]]
; CHECK: attributes #[[WAITS]] = { convergent }
declare void @__metal_barrier(i32, i32)
define void @kernel(ptr addrspace(1) %out) {
  store volatile i32 1, ptr addrspace(1) %out
  call void @__metal_barrier(i32 1, i32 2)
  store volatile i32 2, ptr addrspace(1) %out
  call void @__metal_barrier(i32 0, i32 2)
  store volatile i32 3, ptr addrspace(1) %out
  call void @__metal_barrier(i32 1, i32 2), !simd.descending !{}
  ret void
}
