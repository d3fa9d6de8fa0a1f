; RUN: widen 4
; An inactive lane must not access memory that does not exist: device memory has margins, so loads may read a whole
; vector. Stores change only the active lanes.
declare void @simd.mask(i1)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[VALUES:.*]] = load <4 x float>, ptr addrspace(1)
; CHECK: call void @llvm.masked.store.v4f32.p1(<4 x float> %[[VALUES]], ptr addrspace(1) %{{.*}}, i32 4, <4 x i1> %v)
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x, i1 %v) {
  call void @simd.mask(i1 %v)
  %at = getelementptr float, ptr addrspace(1) %in, i32 %x
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
