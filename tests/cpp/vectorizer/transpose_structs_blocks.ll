; RUN: transpose-structs 8 x86-64-v3
; A register of AVX2 gets the blocks of two lanes, four lanes apart, as its shuffles keep to the halves of registers.
; CHECK-LABEL: define <8 x float> @members
; CHECK-COUNT-8: load <4 x float>, ptr %{{.*}}, align 4, !nontemporal
; CHECK-NOT: load
; CHECK: %s = fadd <8 x float> %x, %y
; CHECK: ret <8 x float>
define <8 x float> @members(ptr %p) {
  %v = load <32 x float>, ptr %p, align 4, !nontemporal !0
  %x = shufflevector <32 x float> %v, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %y = shufflevector <32 x float> %v, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %s = fadd <8 x float> %x, %y
  ret <8 x float> %s
}
; CHECK-LABEL: define <8 x i32> @eight_members
; CHECK-COUNT-8: load <8 x i32>
; CHECK-NOT: load
; CHECK: ret <8 x i32>
define <8 x i32> @eight_members(ptr %p) {
  %v = load <64 x i32>, ptr %p, align 4
  %x = shufflevector <64 x i32> %v, <64 x i32> poison, <8 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56>
  %y = shufflevector <64 x i32> %v, <64 x i32> poison, <8 x i32> <i32 7, i32 15, i32 23, i32 31, i32 39, i32 47, i32 55, i32 63>
  %s = add <8 x i32> %x, %y
  ret <8 x i32> %s
}
; CHECK-LABEL: define void @written
; CHECK-COUNT-8: shufflevector <8 x float> %{{.*}}, <8 x float> %{{.*}}, <8 x i32>
; CHECK: %[[RUN:.*]] = shufflevector <8 x float> %{{.*}}, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
; CHECK: store <32 x float>
define void @written(ptr %p, <8 x float> %x, <8 x float> %y, <8 x float> %z, <8 x float> %w) {
  %xy = shufflevector <8 x float> %x, <8 x float> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %zw = shufflevector <8 x float> %z, <8 x float> %w, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %all = shufflevector <16 x float> %xy, <16 x float> %zw, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %all, ptr %p, align 4
  ret void
}
!0 = !{i32 1}
