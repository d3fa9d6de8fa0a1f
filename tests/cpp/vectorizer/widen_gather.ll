; RUN: widen 4
; Addresses that are only known at run time: one load if they turn out to be all the same or
; consecutive, a gather if not.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[STEPS:.*]] = icmp eq <4 x i32> %{{.*}}, <i32 0, i32 1, i32 2, i32 3>
; CHECK: load <4 x float>, ptr addrspace(1)
; CHECK: %[[SAME:.*]] = icmp eq <4 x i32> %vary
; CHECK: load float, ptr addrspace(1)
; CHECK: %[[ADDRESSES:.*]] = ptrtoint <4 x ptr addrspace(1)>
; CHECK: store <4 x i64> %[[ADDRESSES]], ptr %[[MEMORY:.*]], align
; CHECK: call void @simd.load.lanes.4.4(ptr %[[MEMORY]]
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) {
  %at = getelementptr float, ptr addrspace(1) %in, i32 %vary
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
