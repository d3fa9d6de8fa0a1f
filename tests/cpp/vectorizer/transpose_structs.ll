; RUN: transpose-structs 16 x86-64-v4
; Registers are read in the order of memory. Two shuffles each give the pairs of members, and one more each member.
; CHECK-LABEL: define <16 x float> @members
; CHECK: %[[P0:.*]] = getelementptr i8, ptr %p, i64 0
; CHECK-NEXT: %[[R0:.*]] = load <16 x float>, ptr %[[P0]], align 4, !nontemporal
; CHECK: %[[R1:.*]] = load <16 x float>
; CHECK: %[[R2:.*]] = load <16 x float>
; CHECK: %[[P3:.*]] = getelementptr i8, ptr %p, i64 192
; CHECK-NEXT: %[[R3:.*]] = load <16 x float>, ptr %[[P3]], align 4
; CHECK: %[[XY0:.*]] = shufflevector <16 x float> %[[R0]], <16 x float> %[[R1]], <16 x i32> <i32 0, i32 1, i32 4, i32 5
; CHECK: %[[ZW0:.*]] = shufflevector <16 x float> %[[R0]], <16 x float> %[[R1]], <16 x i32> <i32 2, i32 3, i32 6, i32 7
; CHECK: %[[XY1:.*]] = shufflevector <16 x float> %[[R2]], <16 x float> %[[R3]], <16 x i32> <i32 0, i32 1, i32 4, i32 5
; CHECK: %[[ZW1:.*]] = shufflevector <16 x float> %[[R2]], <16 x float> %[[R3]], <16 x i32> <i32 2, i32 3, i32 6, i32 7
; CHECK: %x = shufflevector <16 x float> %[[XY0]], <16 x float> %[[XY1]], <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
; CHECK: %y = shufflevector <16 x float> %[[XY0]], <16 x float> %[[XY1]], <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
; CHECK: %w = shufflevector <16 x float> %[[ZW0]], <16 x float> %[[ZW1]], <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
; CHECK-NEXT: %s = fadd <16 x float> %x, %y
define <16 x float> @members(ptr %p) {
  %v = load <64 x float>, ptr %p, align 4, !nontemporal !0
  %x = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %y = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %w = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31, i32 35, i32 39, i32 43, i32 47, i32 51, i32 55, i32 59, i32 63>
  %s = fadd <16 x float> %x, %y
  %t = fmul <16 x float> %s, %w
  ret <16 x float> %t
}
; Vectors of more than a register are made of several.
; CHECK-LABEL: define <32 x i32> @two_registers
; CHECK-COUNT-8: load <16 x i32>
; CHECK: %[[SUM:.*]] = add <32 x i32>
; CHECK-NEXT: ret <32 x i32> %[[SUM]]
define <32 x i32> @two_registers(ptr %p) {
  %v = load <128 x i32>, ptr %p, align 4
  %x = shufflevector <128 x i32> %v, <128 x i32> poison, <32 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60, i32 64, i32 68, i32 72, i32 76, i32 80, i32 84, i32 88, i32 92, i32 96, i32 100, i32 104, i32 108, i32 112, i32 116, i32 120, i32 124>
  %z = shufflevector <128 x i32> %v, <128 x i32> poison, <32 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30, i32 34, i32 38, i32 42, i32 46, i32 50, i32 54, i32 58, i32 62, i32 66, i32 70, i32 74, i32 78, i32 82, i32 86, i32 90, i32 94, i32 98, i32 102, i32 106, i32 110, i32 114, i32 118, i32 122, i32 126>
  %s = add <32 x i32> %x, %z
  ret <32 x i32> %s
}
; LLVM computes with whole structs if one member of the result is used. Where structs are taken apart, that takes more
; instructions.
; CHECK-LABEL: define <16 x float> @products
; CHECK: fmul <16 x float>
; CHECK-NOT: fmul <64 x float>
; CHECK: ret <16 x float>
define <16 x float> @products(ptr %p, ptr %q) {
  %v = load <64 x float>, ptr %p, align 4
  %u = load <64 x float>, ptr %q, align 4
  %y = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %b = shufflevector <64 x float> %u, <64 x float> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %all = fmul <64 x float> %v, %u
  %xa = shufflevector <64 x float> %all, <64 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %sum = call <16 x float> @llvm.fma.v16f32(<16 x float> %y, <16 x float> %b, <16 x float> %xa)
  ret <16 x float> %sum
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
; What else needs the whole vector keeps it, and so does the first of the members if it is the only one.
; CHECK-LABEL: define <64 x float> @whole
; CHECK: load <64 x float>
define <64 x float> @whole(ptr %p, ptr %q) {
  %v = load <64 x float>, ptr %p, align 4
  %x = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %y = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %s = fadd <16 x float> %x, %y
  store <16 x float> %s, ptr %q
  ret <64 x float> %v
}
; CHECK-LABEL: define <16 x float> @one_member
; CHECK: load <64 x float>
define <16 x float> @one_member(ptr %p) {
  %v = load <64 x float>, ptr %p, align 4
  %x = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  ret <16 x float> %x
}
; CHECK-LABEL: define <16 x float> @volatile
; CHECK: load volatile <64 x float>
define <16 x float> @volatile(ptr %p) {
  %v = load volatile <64 x float>, ptr %p, align 4
  %x = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %y = shufflevector <64 x float> %v, <64 x float> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %s = fadd <16 x float> %x, %y
  ret <16 x float> %s
}
; Registers with fewer lanes than a struct has blocks hold no whole structs.
; CHECK-LABEL: define <2 x i32> @few_lanes
; CHECK: load <16 x i32>
define <2 x i32> @few_lanes(ptr %p) {
  %v = load <16 x i32>, ptr %p, align 4
  %x = shufflevector <16 x i32> %v, <16 x i32> poison, <2 x i32> <i32 0, i32 8>
  %y = shufflevector <16 x i32> %v, <16 x i32> poison, <2 x i32> <i32 5, i32 13>
  %s = add <2 x i32> %x, %y
  ret <2 x i32> %s
}
; Two shuffles each give the pairs of members that are neighbours in memory, and two more the structs.
; CHECK-LABEL: define void @written
; CHECK: %[[XY0:.*]] = shufflevector <16 x float> %x, <16 x float> %y, <16 x i32> <i32 0, i32 16, i32 1, i32 17
; CHECK: %[[XY1:.*]] = shufflevector <16 x float> %x, <16 x float> %y, <16 x i32> <i32 8, i32 24, i32 9, i32 25
; CHECK: %[[ZW0:.*]] = shufflevector <16 x float> %z, <16 x float> %w, <16 x i32> <i32 0, i32 16, i32 1, i32 17
; CHECK: %[[ZW1:.*]] = shufflevector <16 x float> %z, <16 x float> %w, <16 x i32> <i32 8, i32 24, i32 9, i32 25
; CHECK: shufflevector <16 x float> %[[XY0]], <16 x float> %[[ZW0]], <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2
; CHECK: shufflevector <16 x float> %[[XY0]], <16 x float> %[[ZW0]], <16 x i32> <i32 8, i32 9, i32 24, i32 25, i32 10
; CHECK: shufflevector <16 x float> %[[XY1]], <16 x float> %[[ZW1]], <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2
; CHECK: %[[LAST:.*]] = shufflevector <16 x float> %[[XY1]], <16 x float> %[[ZW1]], <16 x i32> <i32 8, i32 9, i32 24
; CHECK: store <64 x float> %{{.*}}, ptr %p, align 4, !nontemporal
define void @written(ptr %p, <16 x float> %x, <16 x float> %y, <16 x float> %z, <16 x float> %w) {
  %xy = shufflevector <16 x float> %x, <16 x float> %y, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %zw = shufflevector <16 x float> %z, <16 x float> %w, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %all = shufflevector <32 x float> %xy, <32 x float> %zw, <64 x i32> <i32 0, i32 16, i32 32, i32 48, i32 1, i32 17, i32 33, i32 49, i32 2, i32 18, i32 34, i32 50, i32 3, i32 19, i32 35, i32 51, i32 4, i32 20, i32 36, i32 52, i32 5, i32 21, i32 37, i32 53, i32 6, i32 22, i32 38, i32 54, i32 7, i32 23, i32 39, i32 55, i32 8, i32 24, i32 40, i32 56, i32 9, i32 25, i32 41, i32 57, i32 10, i32 26, i32 42, i32 58, i32 11, i32 27, i32 43, i32 59, i32 12, i32 28, i32 44, i32 60, i32 13, i32 29, i32 45, i32 61, i32 14, i32 30, i32 46, i32 62, i32 15, i32 31, i32 47, i32 63>
  store <64 x float> %all, ptr %p, align 4, !nontemporal !0
  ret void
}
; One vector that is every member takes one shuffle a register.
; CHECK-LABEL: define <64 x float> @repeated
; CHECK-NEXT: shufflevector <16 x float> %x, <16 x float> poison, <64 x i32>
; CHECK-NEXT: ret
define <64 x float> @repeated(<16 x float> %x) {
  %all = shufflevector <16 x float> %x, <16 x float> poison, <64 x i32> <i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1, i32 2, i32 2, i32 2, i32 2, i32 3, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 4, i32 5, i32 5, i32 5, i32 5, i32 6, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7, i32 7, i32 8, i32 8, i32 8, i32 8, i32 9, i32 9, i32 9, i32 9, i32 10, i32 10, i32 10, i32 10, i32 11, i32 11, i32 11, i32 11, i32 12, i32 12, i32 12, i32 12, i32 13, i32 13, i32 13, i32 13, i32 14, i32 14, i32 14, i32 14, i32 15, i32 15, i32 15, i32 15>
  ret <64 x float> %all
}
!0 = !{i32 1}
