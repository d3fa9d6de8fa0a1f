; RUN: phase-loops 4
; The second phase changes threadgroup memory only by operations that commute, so the first gang runs first, as memory is
; read faster forwards.
; CHECK-LABEL: define void @commutes(
; CHECK: phase.end:
; CHECK: gang{{[0-9]+}}:
; CHECK-NEXT: %[[COUNT:.*]] = phi i32 [ 0, %{{.*}} ]
; CHECK-NOT: sub nuw i32 %{{.*}}, %[[COUNT]]
; CHECK: mul nuw i32 %[[COUNT]], 4
; CHECK: ret void
declare void @simd.barrier()
define void @commutes(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %own = alloca i32
  %counts = addrspacecast ptr %group to ptr addrspace(3)
  %from = getelementptr i32, ptr addrspace(1) null, i32 %index
  store volatile i32 1, ptr addrspace(3) %counts
  call void @simd.barrier()
  %bin = load volatile i32, ptr addrspace(1) %from
  store i32 %bin, ptr %own
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %bin
  %old = load i32, ptr addrspace(3) %at, !simd.commuting !0
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(3) %at, !simd.commuting !0
  ret void
}

; A gang may read what another one adds to, if the kernel lacks a barrier. The first gang runs last.
; CHECK-LABEL: define void @reads(
; CHECK: phase.end:
; CHECK: %[[COUNT:.*]] = phi i32 [ 0, %{{.*}} ]
; CHECK: sub nuw i32 %{{.*}}, %[[COUNT]]
; CHECK: ret void
define void @reads(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %counts = addrspacecast ptr %group to ptr addrspace(3)
  %own = getelementptr i32, ptr addrspace(3) %counts, i32 %index
  store volatile i32 1, ptr addrspace(3) %counts
  call void @simd.barrier()
  %read = load volatile i32, ptr addrspace(3) %own
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %read
  %old = load i32, ptr addrspace(3) %at, !simd.commuting !0
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(3) %at, !simd.commuting !0
  ret void
}
!0 = !{}
