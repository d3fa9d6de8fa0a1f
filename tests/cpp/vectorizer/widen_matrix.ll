; RUN: widen 32
; The lanes' operations on their elements of a matrix become operations on the whole matrix.
declare i64 @__metal_simdgroup_load_device_32(ptr addrspace(1), i64, i64, i32)
declare void @__metal_simdgroup_store_device_16(ptr addrspace(1), i64, i64, i32, i32)
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[STEP:.*]] = mul i64 %pitch, 4
; CHECK: %[[X:.*]] = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(1).i64.i64"(ptr addrspace(1) %x, i64 %[[STEP]], i64 4)
; CHECK: call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %[[X]], i32 0)
; CHECK: call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %[[X]], i32 1)
; CHECK-DAG: %[[B:.*]] = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %va, <32 x float> %va)
; CHECK-DAG: %[[A:.*]] = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %{{[0-9]+}}, <32 x float> %va)
; CHECK: %[[SUM:.*]] = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %[[A]], <64 x float> %[[B]], <64 x float> %{{.*}})
; CHECK: call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %[[SUM]], i32 0)
; CHECK: %[[OUT:.*]] = call <64 x i16> @"simd.matrix.rows.<64 x i16>.<32 x i16>.<32 x i16>"
; CHECK: call void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x i16>"(ptr addrspace(1) %out, i64 2, i64 %{{.*}}, <64 x i16> %[[OUT]])
define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i64 %pitch, i32 %lane, float %va) {
  %pair = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %x, i64 %pitch, i64 1, i32 %lane)
  %word = trunc i64 %pair to i32
  %first = bitcast i32 %word to float
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %first, float %va, float %va, float %va, float 0.0, float 0.0)
  %low = trunc i64 %both to i32
  call void @__metal_simdgroup_store_device_16(ptr addrspace(1) %out, i64 1, i64 %pitch, i32 %lane, i32 %low)
  ret void
}
