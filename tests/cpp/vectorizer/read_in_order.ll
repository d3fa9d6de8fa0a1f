; RUN: read-in-order
; A vector of a kilobyte is a stream of memory. If its elements move, its cache lines are touched in ascending order
; before it is loaded.
; CHECK-LABEL: define <16 x float> @long
; CHECK: %[[FIRST:.*]] = getelementptr i8, ptr addrspace(1) %row, i64 0
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[FIRST]], i32 0, i32 3, i32 1)
; CHECK-NEXT: %[[SECOND:.*]] = getelementptr i8, ptr addrspace(1) %row, i64 64
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[SECOND]], i32 0, i32 3, i32 1)
; CHECK-COUNT-14: prefetch
; CHECK: load <256 x float>
define <16 x float> @long(ptr addrspace(1) %row) {
  %read = load <256 x float>, ptr addrspace(1) %row, align 4
  %each = shufflevector <256 x float> %read, <256 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  ret <16 x float> %each
}

; Elements that stay in their order are loaded in that order. Memory of a threadgroup is always in a cache.
; CHECK-NOT: call void @llvm.prefetch
define <256 x float> @in_order(ptr addrspace(1) %row) {
  %read = load <256 x float>, ptr addrspace(1) %row, align 4
  %sum = fadd <256 x float> %read, %read
  ret <256 x float> %sum
}
define <4 x float> @part(ptr addrspace(1) %row) {
  %read = load <256 x float>, ptr addrspace(1) %row, align 4
  %first = shufflevector <256 x float> %read, <256 x float> poison, <4 x i32> <i32 16, i32 17, i32 18, i32 19>
  ret <4 x float> %first
}
define <16 x float> @threadgroup(ptr addrspace(3) %row) {
  %read = load <256 x float>, ptr addrspace(3) %row, align 4
  %each = shufflevector <256 x float> %read, <256 x float> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  ret <16 x float> %each
}
