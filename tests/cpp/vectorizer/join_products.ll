; RUN: join-products 32 x86-64-v4
; Where registers have room, the products of two A with two B are computed together. Matrices that
; are only handled whole lie row by row.
declare void @simd.multiply.accumulate(ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture)
; CHECK-LABEL: define void @tile
; CHECK: alloca [64 x i32], align 64
; CHECK: %[[SUM:.*]] = load <32 x float>, ptr addrspace(1) %sums
; CHECK: %[[WORDS:.*]] = bitcast <32 x float> %[[SUM]] to <32 x i32>
; CHECK: %[[UPPER:.*]] = shufflevector <32 x i32> %[[WORDS]], <32 x i32> poison, <16 x i32> <i32 0, i32 1,
; CHECK: %[[ROWS:.*]] = shufflevector <16 x i32> %[[UPPER]], <16 x i32> zeroinitializer, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 8, i32 24, i32 9, i32 25, i32 2, i32 18, i32 3, i32 19, i32 10, i32 26, i32 11, i32 27>
; CHECK: store <16 x i32> %[[ROWS]], ptr %{{.*}}, align 64
; CHECK-COUNT-3: store <16 x i32>
; CHECK: call void @simd.row.products.2x2x1.32.32(ptr %[[A:rows[0-9]*]], ptr %[[D:rows[0-9]*]], ptr %{{rows[0-9]*}}, ptr %{{rows[0-9]*}}, ptr %[[C:rows[0-9]*]],
; CHECK-NEXT: call void @simd.row.products.2x1x1.32.32(ptr %[[A]], ptr %[[D]], ptr
; CHECK-NEXT: getelementptr i8, ptr %[[C]], i64 0
; CHECK-COUNT-4: load <16 x i32>, ptr
; CHECK: %[[EVEN:.*]] = shufflevector <16 x i32> %{{.*}}, <16 x i32> %{{.*}}, <16 x i32> <i32 0, i32 2, i32 8, i32 10, i32 16, i32 18, i32 24, i32 26, i32 4, i32 6, i32 12, i32 14, i32 20, i32 22, i32 28, i32 30>
; CHECK: %[[LANES:.*]] = shufflevector <16 x i32> %[[EVEN]]
; CHECK: %[[RESULT:.*]] = bitcast <32 x i32> %[[LANES]] to <32 x float>
; CHECK: store <32 x float> %[[RESULT]], ptr addrspace(1) %sums
define void @tile(ptr addrspace(1) %sums) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %d0 = alloca <32 x float>, align 128
  %d1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %e0 = alloca <32 x float>, align 128
  %e1 = alloca <32 x float>, align 128
  %f0 = alloca <32 x float>, align 128
  %f1 = alloca <32 x float>, align 128
  %cab0 = alloca <32 x float>, align 128
  %cab1 = alloca <32 x float>, align 128
  %cae0 = alloca <32 x float>, align 128
  %cae1 = alloca <32 x float>, align 128
  %caf0 = alloca <32 x float>, align 128
  %caf1 = alloca <32 x float>, align 128
  %cdb0 = alloca <32 x float>, align 128
  %cdb1 = alloca <32 x float>, align 128
  %cde0 = alloca <32 x float>, align 128
  %cde1 = alloca <32 x float>, align 128
  %cdf0 = alloca <32 x float>, align 128
  %cdf1 = alloca <32 x float>, align 128
  %before = load <32 x float>, ptr addrspace(1) %sums
  store <32 x float> %before, ptr %cab0
  store <32 x float> zeroinitializer, ptr %cab1
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %cab0, ptr %cab1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %e0, ptr %e1, ptr %cae0, ptr %cae1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %f0, ptr %f1, ptr %caf0, ptr %caf1)
  call void @simd.multiply.accumulate(ptr %d0, ptr %d1, ptr %b0, ptr %b1, ptr %cdb0, ptr %cdb1)
  call void @simd.multiply.accumulate(ptr %d0, ptr %d1, ptr %e0, ptr %e1, ptr %cde0, ptr %cde1)
  call void @simd.multiply.accumulate(ptr %d0, ptr %d1, ptr %f0, ptr %f1, ptr %cdf0, ptr %cdf1)
  %after = load <32 x float>, ptr %cab0
  store <32 x float> %after, ptr addrspace(1) %sums
  ret void
}
; Not if one needs the result of the other, or something comes between them. What is added to the
; same sum is one call.
; CHECK-LABEL: define void @one_after_the_other
; CHECK: call void @simd.row.products.1x1x1.32.32(ptr %[[A:.*]], ptr %[[B:.*]], ptr %[[C:.*]])
; CHECK-NEXT: call void @simd.row.products.1x1x2.32.32(ptr %[[A]], ptr %[[C]], ptr %[[A]], ptr %[[B]], ptr %[[D:.*]])
; CHECK: load <16 x i32>
; CHECK: call void @simd.row.products.1x1x1.32.32(ptr %[[A]], ptr %[[B]], ptr %[[C]])
; CHECK-NEXT: ret void
define void @one_after_the_other(ptr addrspace(1) %out) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  %d0 = alloca <32 x float>, align 128
  %d1 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %c0, ptr %c1, ptr %d0, ptr %d1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %d0, ptr %d1)
  %sum = load <32 x float>, ptr %d0
  store <32 x float> %sum, ptr addrspace(1) %out
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; Two A times two B, twice: what is read and stored in between is nothing to the first products.
; CHECK-LABEL: define void @twice(
; CHECK: call void @simd.row.products.2x2x2.32.32(ptr %[[A:.*]], ptr %[[D:.*]], ptr %[[B:.*]], ptr %[[E:.*]], ptr %[[F:.*]], ptr %[[A]], ptr %[[B]], ptr %[[F]], ptr %{{.*}}, ptr %{{.*}}, ptr %{{.*}}, ptr %{{.*}})
; CHECK-NEXT: ret void
define void @twice(ptr addrspace(1) %in) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %d0 = alloca <32 x float>, align 128
  %d1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %e0 = alloca <32 x float>, align 128
  %e1 = alloca <32 x float>, align 128
  %f0 = alloca <32 x float>, align 128
  %f1 = alloca <32 x float>, align 128
  %cab0 = alloca <32 x float>, align 128
  %cab1 = alloca <32 x float>, align 128
  %cae0 = alloca <32 x float>, align 128
  %cae1 = alloca <32 x float>, align 128
  %cdb0 = alloca <32 x float>, align 128
  %cdb1 = alloca <32 x float>, align 128
  %cde0 = alloca <32 x float>, align 128
  %cde1 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %cab0, ptr %cab1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %e0, ptr %e1, ptr %cae0, ptr %cae1)
  call void @simd.multiply.accumulate(ptr %d0, ptr %d1, ptr %b0, ptr %b1, ptr %cdb0, ptr %cdb1)
  call void @simd.multiply.accumulate(ptr %d0, ptr %d1, ptr %e0, ptr %e1, ptr %cde0, ptr %cde1)
  %read = load <32 x float>, ptr addrspace(1) %in
  store <32 x float> %read, ptr %f0
  store <32 x float> %read, ptr %f1
  call void @simd.multiply.accumulate(ptr %f0, ptr %f1, ptr %b0, ptr %b1, ptr %cab0, ptr %cab1)
  call void @simd.multiply.accumulate(ptr %f0, ptr %f1, ptr %f0, ptr %f1, ptr %cae0, ptr %cae1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %cdb0, ptr %cdb1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %f0, ptr %f1, ptr %cde0, ptr %cde1)
  ret void
}
; Not if it is one of their operands that is stored, or a sum that is read.
; CHECK-LABEL: define void @between(
; CHECK-COUNT-3: call void @simd.row.products.1x1x1.32.32(
; CHECK: ret void
define void @between(ptr addrspace(1) %in) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  %read = load <32 x float>, ptr addrspace(1) %in
  store <32 x float> %read, ptr %a0
  store <32 x float> %read, ptr %a1
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  %sum = load <32 x float>, ptr %c0
  store <32 x float> %sum, ptr addrspace(1) %in
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; Nor where the second time is not the same block.
; CHECK-LABEL: define void @other_block(
; CHECK: call void @simd.row.products.1x2x1.32.32(
; CHECK-NEXT: call void @simd.row.products.1x1x1.32.32(
; CHECK-NEXT: ret void
define void @other_block() {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %e0 = alloca <32 x float>, align 128
  %e1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  %d0 = alloca <32 x float>, align 128
  %d1 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %e0, ptr %e1, ptr %d0, ptr %d1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %e0, ptr %e1, ptr %c0, ptr %c1)
  ret void
}
; The lanes' elements stay where they are if a part of a matrix is read by itself, or only one of
; both kinds is written.
; CHECK-LABEL: define void @parts
; CHECK: call void @simd.multiply.accumulate(
define void @parts(ptr addrspace(1) %out) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  %first = load float, ptr %c0
  store float %first, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define void @one_kind
; CHECK: call void @simd.multiply.accumulate(
define void @one_kind() {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  store <32 x float> zeroinitializer, ptr %a0
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; What was loaded as rows is read from there, unless other threads may see it change.
; CHECK-LABEL: define void @in_place(
; CHECK: %[[START:.*]] = getelementptr i8, ptr addrspace(3) %left.at0, i64 0
; CHECK-NEXT: %[[ROW:.*]] = addrspacecast ptr addrspace(3) %[[START]] to ptr
; CHECK: call void @simd.row.products.1x1x1.80.32(ptr %[[ROW]], ptr %{{rows.*}}, ptr %{{rows.*}})
; CHECK: store float 0.000000e+00, ptr addrspace(3) %memory
; CHECK-NEXT: call void @simd.row.products.1x1x1.32.32(
define void @in_place(ptr addrspace(3) %memory) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  %left.at0 = getelementptr i8, ptr addrspace(3) %memory, i64 0
  %left.row0 = load <8 x float>, ptr addrspace(3) %left.at0, align 4
  %left.at1 = getelementptr i8, ptr addrspace(3) %memory, i64 80
  %left.row1 = load <8 x float>, ptr addrspace(3) %left.at1, align 4
  %left.at2 = getelementptr i8, ptr addrspace(3) %memory, i64 160
  %left.row2 = load <8 x float>, ptr addrspace(3) %left.at2, align 4
  %left.at3 = getelementptr i8, ptr addrspace(3) %memory, i64 240
  %left.row3 = load <8 x float>, ptr addrspace(3) %left.at3, align 4
  %left.at4 = getelementptr i8, ptr addrspace(3) %memory, i64 320
  %left.row4 = load <8 x float>, ptr addrspace(3) %left.at4, align 4
  %left.at5 = getelementptr i8, ptr addrspace(3) %memory, i64 400
  %left.row5 = load <8 x float>, ptr addrspace(3) %left.at5, align 4
  %left.at6 = getelementptr i8, ptr addrspace(3) %memory, i64 480
  %left.row6 = load <8 x float>, ptr addrspace(3) %left.at6, align 4
  %left.at7 = getelementptr i8, ptr addrspace(3) %memory, i64 560
  %left.row7 = load <8 x float>, ptr addrspace(3) %left.at7, align 4
  %left.v0.0 = shufflevector <8 x float> %left.row0, <8 x float> %left.row1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %left.v0.1 = shufflevector <8 x float> %left.row2, <8 x float> %left.row3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %left.v0.2 = shufflevector <8 x float> %left.row4, <8 x float> %left.row5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %left.v0.3 = shufflevector <8 x float> %left.row6, <8 x float> %left.row7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %left.v1.0 = shufflevector <16 x float> %left.v0.0, <16 x float> %left.v0.1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %left.v1.1 = shufflevector <16 x float> %left.v0.2, <16 x float> %left.v0.3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %left.v2.0 = shufflevector <32 x float> %left.v1.0, <32 x float> %left.v1.1, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %left.0 = shufflevector <64 x float> %left.v2.0, <64 x float> poison, <32 x i32> <i32 0, i32 2, i32 8, i32 10, i32 16, i32 18, i32 24, i32 26, i32 4, i32 6, i32 12, i32 14, i32 20, i32 22, i32 28, i32 30, i32 32, i32 34, i32 40, i32 42, i32 48, i32 50, i32 56, i32 58, i32 36, i32 38, i32 44, i32 46, i32 52, i32 54, i32 60, i32 62>
  %left.1 = shufflevector <64 x float> %left.v2.0, <64 x float> poison, <32 x i32> <i32 1, i32 3, i32 9, i32 11, i32 17, i32 19, i32 25, i32 27, i32 5, i32 7, i32 13, i32 15, i32 21, i32 23, i32 29, i32 31, i32 33, i32 35, i32 41, i32 43, i32 49, i32 51, i32 57, i32 59, i32 37, i32 39, i32 45, i32 47, i32 53, i32 55, i32 61, i32 63>
  store <32 x float> %left.0, ptr %a0
  store <32 x float> %left.1, ptr %a1
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  store float 0.0, ptr addrspace(3) %memory
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; An element of A, repeated, times a row of both B.
; CHECK-LABEL: define internal void @simd.row.products.2x2x1.32.32(
; CHECK: %[[ROW0:.*]] = load <8 x float>, ptr %{{.*}}, align 4
; CHECK: %[[ROW1:.*]] = load <8 x float>, ptr %{{.*}}, align 4
; CHECK: shufflevector <8 x float> %[[ROW0]], <8 x float> %[[ROW1]], <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8,
; CHECK: %[[ELEMENT:.*]] = load float, ptr
; CHECK: insertelement <16 x float> poison, float %[[ELEMENT]], i64 0
; CHECK-COUNT-128: call <16 x float> @llvm.fmuladd.v16f32
; CHECK-NOT: call {{.*}}@llvm.fmuladd
; CHECK-LABEL: define internal void @simd.row.products.2x1x1.32.32(
; CHECK-COUNT-128: call <8 x float> @llvm.fmuladd.v8f32
