; RUN: widen 4
; An index of 32 bits may wrap around from lane to lane. If the lanes after that may be active, it is tested. If not all
; lanes are active, the index is frozen first.
declare void @simd.mask(i1)
; CHECK-LABEL: define internal void @moved.wide
; CHECK: %[[FITS:.*]] = icmp sle i32 %{{.*}}, 2147483644
; CHECK: br i1 %[[FITS]]
; CHECK: load <4 x float>, ptr addrspace(1)
define void @moved(ptr addrspace(1) %moved, ptr addrspace(1) %out, i32 %x, i32 %same) {
  %sum = add i32 %x, %same
  %index = sext i32 %sum to i64
  %at = getelementptr float, ptr addrspace(1) %moved, i64 %index
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; CHECK-LABEL: define internal void @varying.wide
; CHECK: %[[INDEX:.*]] = freeze <4 x i64> %vary
; CHECK: extractelement <4 x i64> %[[INDEX]], i64 0
define void @varying(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %vary, i1 %v) {
  call void @simd.mask(i1 %v)
  %at = getelementptr float, ptr addrspace(1) %in, i64 %vary
  %value = load float, ptr addrspace(1) %at
  store float %value, ptr addrspace(1) %out
  ret void
}
