; RUN: widen 4
; If the short copies of neighbouring lanes are contiguous, all lanes make one copy.
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[ALL:.*]] = load <16 x i32>, ptr addrspace(1)
; CHECK: store <16 x i32> %[[ALL]], ptr addrspace(3)
; CHECK-NOT: memcpy
; CHECK: ret void
define void @kernel(ptr addrspace(3) %tile, ptr addrspace(1) %in, i32 %x) {
  %from = getelementptr <4 x float>, ptr addrspace(1) %in, i32 %x
  %to = getelementptr <4 x float>, ptr addrspace(3) %tile, i32 %x
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 16 %from, i64 16, i1 false)
  ret void
}
