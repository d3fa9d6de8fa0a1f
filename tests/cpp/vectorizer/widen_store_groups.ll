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

; If each lane fills blocks that are apart from those of the others, blocks are transposed.
; CHECK-LABEL: define internal void @apart.wide
; CHECK-COUNT-3: shufflevector <4 x float> %{{.*}}, <4 x float> %{{.*}}, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
; CHECK-COUNT-4: store <4 x float>
; CHECK-NOT: store
; CHECK: ret void
define void @apart(ptr addrspace(1) %out, i32 %x, float %va, float %vb, float %vc, float %vd) {
  %eighth = shl i32 %x, 3
  %first = getelementptr float, ptr addrspace(1) %out, i32 %eighth
  %second = getelementptr i8, ptr addrspace(1) %first, i64 4
  %third = getelementptr i8, ptr addrspace(1) %first, i64 8
  %fourth = getelementptr i8, ptr addrspace(1) %first, i64 12
  store float %va, ptr addrspace(1) %first
  store float %vb, ptr addrspace(1) %second
  store float %vc, ptr addrspace(1) %third
  store float %vd, ptr addrspace(1) %fourth
  ret void
}

; What nobody writes may be read between the stores.
; CHECK-LABEL: define internal void @constants.wide
; CHECK: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
define void @constants(ptr addrspace(1) %out, ptr addrspace(2) %in, i32 %x, float %va) {
  %pair = shl i32 %x, 1
  %first = getelementptr float, ptr addrspace(1) %out, i32 %pair
  %second = getelementptr i8, ptr addrspace(1) %first, i64 4
  store float %va, ptr addrspace(1) %first
  %b = load float, ptr addrspace(2) %in, !invariant.load !0
  store float %b, ptr addrspace(1) %second
  ret void
}
!0 = !{}
