; RUN: widen 4
; Stores of each lane to neighbouring memory are made together: pairs of elements as whole vectors.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK-NOT: store <4 x float>
; CHECK: %[[PAIRS:.*]] = shufflevector <8 x float> %{{.*}}, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
; CHECK-NEXT: store <8 x float> %[[PAIRS]]
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %out, i32 %x, float %va, float %vb) {
  %pair = shl i32 %x, 1
  %first = getelementptr float, ptr addrspace(1) %out, i32 %pair
  %second = getelementptr i8, ptr addrspace(1) %first, i64 4
  store float %va, ptr addrspace(1) %first
  store float %vb, ptr addrspace(1) %second
  ret void
}
; If many groups of a block have the same form, they share a function.
; CHECK-LABEL: define internal void @many.wide
; CHECK-COUNT-4: call void @"simd.store.runs.[[FORM:[^"]*]]"(
; CHECK-NEXT: ret void
; CHECK: define internal void @"simd.store.runs.[[FORM]]"(ptr addrspace(1) nocapture %0, <4 x float> %1)
; CHECK: store <1 x float>
define void @many(ptr addrspace(1) %out, i32 %x, float %va) {
  %second = shl i32 %x, 1
  %a = getelementptr float, ptr addrspace(1) %out, i32 %second
  %b = getelementptr i8, ptr addrspace(1) %a, i64 1024
  %c = getelementptr i8, ptr addrspace(1) %a, i64 2048
  %d = getelementptr i8, ptr addrspace(1) %a, i64 3072
  store float %va, ptr addrspace(1) %a
  store float %va, ptr addrspace(1) %b
  store float %va, ptr addrspace(1) %c
  store float %va, ptr addrspace(1) %d
  ret void
}
