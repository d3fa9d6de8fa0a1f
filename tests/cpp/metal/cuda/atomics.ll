; RUN: nvptx-atomics
; The GPU's atomic instructions are relaxed. Stronger ones get a fence on both sides; a fence stays a fence.
; CHECK-LABEL: define void @kernel
; CHECK-NEXT: atomicrmw add ptr addrspace(1) %at, i32 1 monotonic
; CHECK-NEXT: call void @llvm.nvvm.membar.gl()
; CHECK-NEXT: atomicrmw add ptr addrspace(1) %at, i32 2 monotonic
; CHECK-NEXT: call void @llvm.nvvm.membar.gl()
; CHECK-NEXT: call void @llvm.nvvm.membar.gl()
; CHECK-NEXT: cmpxchg ptr addrspace(1) %at, i32 3, i32 4 monotonic monotonic
; CHECK-NEXT: call void @llvm.nvvm.membar.gl()
; CHECK-NEXT: call void @llvm.nvvm.membar.gl()
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %at) {
  %a = atomicrmw add ptr addrspace(1) %at, i32 1 monotonic
  %b = atomicrmw add ptr addrspace(1) %at, i32 2 seq_cst
  %c = cmpxchg ptr addrspace(1) %at, i32 3, i32 4 acq_rel acquire
  fence seq_cst
  ret void
}
