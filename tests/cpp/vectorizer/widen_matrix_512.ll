; RUN: widen 32 x86-64-v4
; Registers of 16 floats hold two quarters of the lanes that have the same columns: 0 and 2, 1 and 3.
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float)
; CHECK-LABEL: define internal void @simd.multiply.accumulate(ptr nocapture %0, ptr nocapture %1, ptr nocapture %2, ptr nocapture %3, ptr nocapture %4, ptr nocapture %5)
; C, columns 0 to 3: its first elements.
; CHECK: %[[UPPER:.*]] = load <8 x float>, ptr %[[C:.*]], align 32
; CHECK: %[[AT:.*]] = getelementptr float, ptr %4, i32 16
; CHECK: %[[LOWER:.*]] = load <8 x float>, ptr %[[AT]], align 32
; CHECK: %[[SUM:.*]] = shufflevector <8 x float> %[[UPPER]], <8 x float> %[[LOWER]], <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
; Column 0 of A, in all rows, and row 0 of B.
; CHECK: %[[EVEN:.*]] = shufflevector <16 x float> %{{.*}}, <16 x float> poison, <16 x i32> <i32 0, i32 0, i32 2, i32 2, i32 4, i32 4, i32 6, i32 6, i32 8, i32 8, i32 10, i32 10, i32 12, i32 12, i32 14, i32 14>
; CHECK: load double, ptr
; CHECK: %[[ROW:.*]] = bitcast <8 x double> %{{.*}} to <16 x float>
; CHECK: call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %[[EVEN]], <16 x float> %[[ROW]], <16 x float> %[[SUM]])
; CHECK-NOT: v8f32(
; Column 2.
; CHECK: shufflevector <16 x float> %{{.*}}, <16 x float> poison, <16 x i32> <i32 1, i32 1, i32 3, i32 3, i32 5, i32 5, i32 7, i32 7, i32 9, i32 9, i32 11, i32 11, i32 13, i32 13, i32 15, i32 15>
; CHECK-COUNT-8: store <8 x float>
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %out, i32 %lane, float %va, float %vb, float %vc, float %vd) {
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %va, float %vb, float %vc, float %vd, float 0.0, float 0.0)
  %low = trunc i64 %both to i32
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %low, ptr addrspace(1) %to
  ret void
}
