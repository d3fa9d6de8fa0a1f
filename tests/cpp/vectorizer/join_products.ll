; RUN: join-products 32 x86-64-v4
; Where registers have room, the products of two A with two B are computed together, and quarters of the lanes lie in the order
; in which registers take them.
declare void @simd.multiply.accumulate(ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture)
; CHECK-LABEL: define void @tile
; CHECK: %[[SUM:.*]] = load <32 x float>, ptr addrspace(1) %sums
; CHECK: %[[ORDERED:.*]] = shufflevector <32 x float> %[[SUM]], <32 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24,
; CHECK: store <32 x float> %[[ORDERED]], ptr %c0
; CHECK: call void @simd.multiply.accumulate.2x2.ordered(ptr %a0, ptr %a1, ptr %a2, ptr %a3, ptr %b0, ptr %b1, ptr %b2, ptr %b3, ptr %c0, ptr %c1, ptr %c2, ptr %c3, ptr %c4, ptr %c5, ptr %c6, ptr %c7)
; CHECK-NEXT: call void @simd.multiply.accumulate.2x1.ordered(ptr %a0, ptr %a1, ptr %a2, ptr %a3, ptr %b4, ptr %b5, ptr %d0, ptr %d1, ptr %d2, ptr %d3)
; CHECK-NEXT: %[[RESULT:.*]] = load <32 x float>, ptr %c0
; CHECK-NEXT: %[[NATURAL:.*]] = shufflevector <32 x float> %[[RESULT]]
; CHECK-NEXT: store <32 x float> %[[NATURAL]], ptr addrspace(1) %sums
define void @tile(ptr addrspace(1) %sums) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %a2 = alloca <32 x float>, align 128
  %a3 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %b2 = alloca <32 x float>, align 128
  %b3 = alloca <32 x float>, align 128
  %b4 = alloca <32 x float>, align 128
  %b5 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  %c2 = alloca <32 x float>, align 128
  %c3 = alloca <32 x float>, align 128
  %c4 = alloca <32 x float>, align 128
  %c5 = alloca <32 x float>, align 128
  %c6 = alloca <32 x float>, align 128
  %c7 = alloca <32 x float>, align 128
  %d0 = alloca <32 x float>, align 128
  %d1 = alloca <32 x float>, align 128
  %d2 = alloca <32 x float>, align 128
  %d3 = alloca <32 x float>, align 128
  %before = load <32 x float>, ptr addrspace(1) %sums
  store <32 x float> %before, ptr %c0
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b2, ptr %b3, ptr %c2, ptr %c3)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b4, ptr %b5, ptr %d0, ptr %d1)
  call void @simd.multiply.accumulate(ptr %a2, ptr %a3, ptr %b0, ptr %b1, ptr %c4, ptr %c5)
  call void @simd.multiply.accumulate(ptr %a2, ptr %a3, ptr %b2, ptr %b3, ptr %c6, ptr %c7)
  call void @simd.multiply.accumulate(ptr %a2, ptr %a3, ptr %b4, ptr %b5, ptr %d2, ptr %d3)
  %after = load <32 x float>, ptr %c0
  store <32 x float> %after, ptr addrspace(1) %sums
  ret void
}
; Not if one needs the result of the other, or something comes between them.
; CHECK-LABEL: define void @one_after_the_other
; CHECK-COUNT-4: call void @simd.multiply.accumulate.1x1.ordered(
; CHECK-NEXT: ret void
define void @one_after_the_other(ptr addrspace(1) %out) {
  %a0 = alloca <32 x float>, align 128
  %a1 = alloca <32 x float>, align 128
  %b0 = alloca <32 x float>, align 128
  %b1 = alloca <32 x float>, align 128
  %c0 = alloca <32 x float>, align 128
  %c1 = alloca <32 x float>, align 128
  %c2 = alloca <32 x float>, align 128
  %c3 = alloca <32 x float>, align 128
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %c0, ptr %c1, ptr %c2, ptr %c3)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c2, ptr %c3)
  %sum = load <32 x float>, ptr %c2
  store <32 x float> %sum, ptr addrspace(1) %out
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; Quarters stay where they are if a part of a matrix is read by itself.
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
; CHECK-LABEL: define internal void @simd.multiply.accumulate.2x2(
; CHECK-LABEL: define internal void @simd.multiply.accumulate.2x1(
; CHECK-LABEL: define internal void @simd.multiply.accumulate.2x2.ordered(
; CHECK-COUNT-128: call <16 x float> @llvm.fmuladd.v16f32
; CHECK-NOT: call {{.*}}@llvm.fmuladd
; CHECK-LABEL: define internal void @simd.multiply.accumulate.2x1.ordered(
