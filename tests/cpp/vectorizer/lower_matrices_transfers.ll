; RUN: lower-matrices 32
; Loads, stores and changes of the layout of matrices that are in no product.
declare <64 x i16> @"simd.matrix.load.<64 x i16>.ptr addrspace(2).i64.i64"(ptr addrspace(2), i64, i64)
declare void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x i16>"(ptr addrspace(1), i64, i64, <64 x i16>)
declare <32 x i16> @"simd.matrix.lanes.<32 x i16>.<64 x i16>.i32"(<64 x i16>, i32)
declare <64 x i16> @"simd.matrix.rows.<64 x i16>.<32 x i16>.<32 x i16>"(<32 x i16>, <32 x i16>)
; CHECK-LABEL: define <32 x i16> @rows
; CHECK-COUNT-8: load <8 x i16>
; CHECK: shufflevector <64 x i16> %{{.*}}, <64 x i16> poison, <32 x i32> <i32 1, i32 3, i32 9, i32 11, i32 17, i32 19, i32 25, i32 27, i32 5, i32 7, i32 13,
define <32 x i16> @rows(ptr addrspace(2) %x, i64 %pitch) {
  %m = call <64 x i16> @"simd.matrix.load.<64 x i16>.ptr addrspace(2).i64.i64"(ptr addrspace(2) %x, i64 %pitch, i64 2)
  %y = call <32 x i16> @"simd.matrix.lanes.<32 x i16>.<64 x i16>.i32"(<64 x i16> %m, i32 1)
  ret <32 x i16> %y
}
; CHECK-LABEL: define <64 x i16> @columns
; CHECK: getelementptr i8, ptr addrspace(2) %x, i64 336
; CHECK: shufflevector <64 x i16> %{{.*}}, <64 x i16> poison, <64 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56, i32 1, i32 9,
define <64 x i16> @columns(ptr addrspace(2) %x) {
  %m = call <64 x i16> @"simd.matrix.load.<64 x i16>.ptr addrspace(2).i64.i64"(ptr addrspace(2) %x, i64 2, i64 48)
  ret <64 x i16> %m
}
; CHECK-LABEL: define void @elements
; CHECK: shufflevector <32 x i16> %a, <32 x i16> %b, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 8, i32 40, i32 9, i32 41, i32 2,
; CHECK-COUNT-64: store i16
define void @elements(ptr addrspace(1) %x, i64 %row, i64 %column, <32 x i16> %a, <32 x i16> %b) {
  %m = call <64 x i16> @"simd.matrix.rows.<64 x i16>.<32 x i16>.<32 x i16>"(<32 x i16> %a, <32 x i16> %b)
  call void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x i16>"(ptr addrspace(1) %x, i64 %row, i64 %column, <64 x i16> %m)
  ret void
}
