; RUN: widen 4
; SIMD-group functions combine the lanes of one vector. Results that all threads share are uniform, a shuffle with known
; sources is one shuffle of a vector, and a vote is the mask's bits.
declare float @__metal_simd_sum_f32(float)
declare i32 @__metal_simd_shuffle_u32(i32, i32)
declare i64 @__metal_simd_ballot(i1)
; CHECK-LABEL: define internal void @sum.wide
; CHECK: fadd reassoc <2 x float>
; CHECK: %[[SUM:.*]] = extractelement <1 x float>
; CHECK: store float %[[SUM]], ptr addrspace(1) %out
define void @sum(ptr addrspace(1) %out, float %v) {
  %sum = call reassoc float @__metal_simd_sum_f32(float %v)
  store float %sum, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define internal void @neighbours.wide
; CHECK: shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
define void @neighbours(ptr addrspace(1) %out, i32 %lane, i32 %v) {
  %other = xor i32 %lane, 1
  %value = call i32 @__metal_simd_shuffle_u32(i32 %v, i32 %other)
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %value, ptr addrspace(1) %to
  ret void
}
; CHECK-LABEL: define internal void @vote.wide
; CHECK: bitcast <4 x i1> %v to i4
define void @vote(ptr addrspace(1) %out, i1 %v) {
  %votes = call i64 @__metal_simd_ballot(i1 %v)
  store i64 %votes, ptr addrspace(1) %out
  ret void
}
