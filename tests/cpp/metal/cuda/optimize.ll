; RUN: nvptx-retarget,nvptx-optimize
; Functions are inlined, private variables become values, and what is not an entry is gone.
; CHECK-NOT: define internal
; CHECK-LABEL: define {{.*}}@kernel(
; CHECK-NOT: alloca
; CHECK: fmul {{.*}}float %x, 2.0
; CHECK-NOT: call
; CHECK: ret void
define void @kernel(ptr addrspace(1) %out, float %x) {
  %private = alloca float
  %twice = call float @twice(float %x)
  store float %twice, ptr %private
  %value = load float, ptr %private
  store float %value, ptr addrspace(1) %out
  ret void
}
define internal float @twice(float %x) {
  %result = fmul float %x, 2.0
  ret float %result
}
