; RUN: widen 4
; Addresses that are only known at run time: one load if they are all equal or consecutive; otherwise a gather, or a
; function if the processor has no gathers and scatters.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[STEPS:.*]] = icmp eq <4 x i32> %{{.*}}, <i32 0, i32 1, i32 2, i32 3>
; CHECK: load <4 x float>, ptr addrspace(1)
; CHECK: %[[SAME:.*]] = icmp eq <4 x i32> %vary
; CHECK: load float, ptr addrspace(1)
; CHECK: store <4 x i32> %vary, ptr %[[INDICES:.*]], align
; CHECK: call void @simd.load.lanes.4x4.s32.4(ptr %{{.*}}, ptr %[[INDICES]], i64 {{.*}}, ptr %[[VALUES:.*]])
; CHECK: load <4 x float>, ptr %[[VALUES]]
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) {
  %at = getelementptr float, ptr addrspace(1) %in, i32 %vary
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; There is no branch if all lanes are active; otherwise there is a loop over the active ones.
; CHECK-LABEL: define internal void @simd.load.lanes.4x4.s32.4(ptr %0, ptr %1, i64 %2, ptr %3)
; CHECK: icmp eq i64 %2, 15
; CHECK: all:
; CHECK-COUNT-4: getelementptr [4 x i8], ptr %0
; CHECK: some:
; CHECK: lane.body:
; CHECK: %[[AT:.*]] = getelementptr [4 x i8], ptr %0
; CHECK: %[[VALUE:.*]] = load i32, ptr %[[AT]], align 1
; CHECK: store i32 %[[VALUE]], ptr

; CHECK-LABEL: define internal void @scatter.wide
; CHECK: icmp eq <4 x i32> %{{.*}}, <i32 0, i32 1, i32 2, i32 3>
; CHECK: store <4 x float> %{{.*}}, ptr addrspace(1)
; CHECK: store <4 x i32> %vary, ptr %[[INDICES:.*]], align
; CHECK: call void @simd.store.lanes.4x4.s32.4(ptr %{{.*}}, ptr %[[INDICES]], i64 {{.*}}, ptr
define void @scatter(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) {
  %at = getelementptr float, ptr addrspace(1) %in, i32 %x
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %vary
  store float %value, ptr addrspace(1) %to
  ret void
}
