; RUN: widen 16
; Neighbours are added first. Each block of four sums has two of the first half of the vector, then two of the second
; half, as one instruction takes two lanes each of two registers. So neighbours are soon a half apart.
declare float @__metal_simd_sum_f32(float)
; CHECK-LABEL: define internal void @sum.wide
; CHECK-DAG: shufflevector <16 x float> %v, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 8, i32 10, i32 4, i32 6, i32 12, i32 14>
; CHECK-DAG: shufflevector <16 x float> %v, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 9, i32 11, i32 5, i32 7, i32 13, i32 15>
; CHECK: %[[PAIRS:.*]] = fadd <8 x float>
; CHECK-DAG: shufflevector <8 x float> %[[PAIRS]], <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
; CHECK-DAG: shufflevector <8 x float> %[[PAIRS]], <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
; CHECK: %[[FOURS:.*]] = fadd <4 x float>
; CHECK-DAG: shufflevector <4 x float> %[[FOURS]], <4 x float> poison, <2 x i32> <i32 0, i32 1>
; CHECK-DAG: shufflevector <4 x float> %[[FOURS]], <4 x float> poison, <2 x i32> <i32 2, i32 3>
define void @sum(ptr addrspace(1) %out, float %v) {
  %sum = call float @__metal_simd_sum_f32(float %v)
  store float %sum, ptr addrspace(1) %out
  ret void
}
