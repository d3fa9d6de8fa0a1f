; RUN: join-products 32 x86-64-v4
; Where registers have room, two products with the same A are computed together.
declare void @simd.multiply.accumulate(ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture, ptr nocapture)
; CHECK-LABEL: define void @same
; CHECK: call void @simd.multiply.accumulate2(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1, ptr %b2, ptr %b3, ptr %c2, ptr %c3)
; CHECK-NEXT: ret void
define void @same() {
  %a0 = alloca <32 x float>, align 64
  %a1 = alloca <32 x float>, align 64
  %b0 = alloca <32 x float>, align 64
  %b1 = alloca <32 x float>, align 64
  %b2 = alloca <32 x float>, align 64
  %b3 = alloca <32 x float>, align 64
  %c0 = alloca <32 x float>, align 64
  %c1 = alloca <32 x float>, align 64
  %c2 = alloca <32 x float>, align 64
  %c3 = alloca <32 x float>, align 64
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b2, ptr %b3, ptr %c2, ptr %c3)
  ret void
}
; Not if one needs the result of the other, or something comes between them.
; CHECK-LABEL: define void @one_after_the_other
; CHECK-COUNT-4: call void @simd.multiply.accumulate(
; CHECK-NEXT: ret void
define void @one_after_the_other(ptr addrspace(1) %out) {
  %a0 = alloca <32 x float>, align 64
  %a1 = alloca <32 x float>, align 64
  %b0 = alloca <32 x float>, align 64
  %b1 = alloca <32 x float>, align 64
  %c0 = alloca <32 x float>, align 64
  %c1 = alloca <32 x float>, align 64
  %c2 = alloca <32 x float>, align 64
  %c3 = alloca <32 x float>, align 64
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %c0, ptr %c1, ptr %c2, ptr %c3)
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c2, ptr %c3)
  %sum = load <32 x float>, ptr %c2
  store <32 x float> %sum, ptr addrspace(1) %out
  call void @simd.multiply.accumulate(ptr %a0, ptr %a1, ptr %b0, ptr %b1, ptr %c0, ptr %c1)
  ret void
}
; CHECK-LABEL: define internal void @simd.multiply.accumulate2(
; CHECK-COUNT-64: call <16 x float> @llvm.fmuladd.v16f32
; CHECK-NOT: call {{.*}}@llvm.fmuladd
