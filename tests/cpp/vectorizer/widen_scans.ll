; RUN: widen 16 x86-64-v4
; Prefix sums of floats move lanes up above -0: LLVM's code for zeros is slow.
; CHECK-LABEL: define internal void @sums.wide
; CHECK: %[[MOVED:.*]] = shufflevector <16 x float> %vary.value, <16 x float> <float -0.000000e+00, {{.*}}>, <16 x i32> <i32 16, i32 0, i32 1,
; CHECK: %[[PAIRS:.*]] = fadd <16 x float> %[[MOVED]], %vary.value
; CHECK: %[[BY2:.*]] = shufflevector <16 x float> %[[PAIRS]], <16 x float> <float -0.000000e+00, {{.*}}>, <16 x i32> <i32 16, i32 17, i32 0,
; CHECK: %[[BY4:.*]] = shufflevector
; CHECK: %[[BY8:.*]] = shufflevector
; CHECK: %[[SUMS:.*]] = fadd <16 x float> %[[BY8]],
; CHECK-NOT: shufflevector
; CHECK: store <16 x float> %[[SUMS]]
define void @sums(ptr addrspace(1) %out, float %vary.value, i32 %x) {
  %sum = call float @__metal_simd_prefix_inclusive_sum_f32(float %vary.value)
  %place = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %place, align 4
  ret void
}

; There is 0 before the first lane.
; CHECK-LABEL: define internal void @before.wide
; CHECK-COUNT-5: shufflevector
; CHECK: %[[SUMS:.*]] = fadd <16 x float> %{{.*}}, zeroinitializer
; CHECK: store <16 x float> %[[SUMS]]
define void @before(ptr addrspace(1) %out, float %vary.value, i32 %x) {
  %sum = call float @__metal_simd_prefix_exclusive_sum_f32(float %vary.value)
  %place = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %place, align 4
  ret void
}

declare float @__metal_simd_prefix_inclusive_sum_f32(float) convergent
declare float @__metal_simd_prefix_exclusive_sum_f32(float) convergent
