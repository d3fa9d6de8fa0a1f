; RUN: widen 32
; If lanes load both of their elements of a matrix by themselves, the matrix is loaded as a whole.
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[M:.*]] = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %{{.*}}, i64 80, i64 4)
; CHECK: %[[X:.*]] = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %[[M]], i32 0)
; CHECK: %[[Y:.*]] = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %[[M]], i32 1)
; CHECK: call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %[[X]], <32 x float> %[[Y]])
; CHECK-NOT: simd.matrix.load
; CHECK: ret void
define void @kernel(ptr addrspace(3) %tile, i32 %x) {
  %quad = lshr i32 %x, 2
  %q4 = and i32 %quad, 4
  %half = lshr i32 %x, 1
  %h3 = and i32 %half, 3
  %row = add nuw nsw i32 %q4, %h3
  %q2 = and i32 %quad, 2
  %q22 = shl nuw nsw i32 %q2, 1
  %odd = and i32 %x, 1
  %odd2 = shl nuw nsw i32 %odd, 1
  %column = add nuw nsw i32 %q22, %odd2
  %in_rows = mul nuw nsw i32 %row, 20
  %index = add nuw nsw i32 %in_rows, %column
  %wide = zext i32 %index to i64
  %p = getelementptr float, ptr addrspace(3) %tile, i64 %wide
  %q = getelementptr i8, ptr addrspace(3) %p, i64 4
  %second = load float, ptr addrspace(3) %q
  %first = load float, ptr addrspace(3) %p
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %first, float %second, float %first, float %second, float 0.0, float 0.0)
  %low = trunc i64 %both to i32
  store i32 %low, ptr addrspace(3) %p
; A store in between may change the second element.
  %again = load float, ptr addrspace(3) %p
  store float 1.0, ptr addrspace(3) %tile
  %changed = load float, ptr addrspace(3) %q
  %sum = fadd float %again, %changed
  store float %sum, ptr addrspace(3) %q
  ret void
}
; Two loads of pairs are no elements.
; CHECK-LABEL: define internal void @pairs.wide
; CHECK-NOT: simd.matrix.load
; CHECK: ret void
define void @pairs(ptr addrspace(3) %tile, i32 %x) {
  %quad = lshr i32 %x, 2
  %q4 = and i32 %quad, 4
  %half = lshr i32 %x, 1
  %h3 = and i32 %half, 3
  %row = add nuw nsw i32 %q4, %h3
  %q2 = and i32 %quad, 2
  %q22 = shl nuw nsw i32 %q2, 1
  %odd = and i32 %x, 1
  %odd2 = shl nuw nsw i32 %odd, 1
  %column = add nuw nsw i32 %q22, %odd2
  %in_rows = mul nuw nsw i32 %row, 20
  %index = add nuw nsw i32 %in_rows, %column
  %wide = zext i32 %index to i64
  %p = getelementptr [2 x float], ptr addrspace(3) %tile, i64 %wide
  %q = getelementptr i8, ptr addrspace(3) %p, i64 8
  %second = load <2 x float>, ptr addrspace(3) %q
  %first = load <2 x float>, ptr addrspace(3) %p
  %both = call i64 @__metal_simdgroup_multiply_accumulate_f32(float 1.0, float 1.0, float 1.0, float 1.0, float 0.0, float 0.0)
  store <2 x float> %first, ptr addrspace(3) %q
  store <2 x float> %second, ptr addrspace(3) %p
  ret void
}
