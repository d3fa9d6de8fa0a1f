; RUN: join-columns 8
; Two columns beside each other are in the same blocks: each lane reads one.
; CHECK-LABEL: define void @neighbours(
; CHECK-COUNT-8: load <4 x float>, ptr addrspace(3) %{{.*}}, align 4
; CHECK-NOT: load
; CHECK: store <8 x float> %{{.*}}, ptr %out
; CHECK-NOT: load
; CHECK: ret void
declare <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) nocapture, i64) nosync nounwind willreturn memory(argmem: read)
define void @neighbours(ptr addrspace(3) %tile, ptr %out) {
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %tile, i64 132)
  %next = getelementptr i8, ptr addrspace(3) %tile, i64 4
  %b = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %next, i64 132)
  %sum = fadd <8 x float> %a, %b
  store <8 x float> %sum, ptr %out
  ret void
}

; So are columns whose indices differ by a constant.
; CHECK-LABEL: define void @by_index(
; CHECK-COUNT-8: load <4 x float>
; CHECK-NOT: load
; CHECK: ret void
define void @by_index(ptr addrspace(3) %tile, i32 %set, ptr %out) {
  %column = shl i32 %set, 4
  %one = or disjoint i32 %column, 1
  %two = or disjoint i32 %column, 2
  %wide1 = zext i32 %one to i64
  %wide2 = zext i32 %two to i64
  %at1 = getelementptr float, ptr addrspace(3) %tile, i64 %wide1
  %at2 = getelementptr float, ptr addrspace(3) %tile, i64 %wide2
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %at1, i64 132)
  %b = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %at2, i64 132)
  %sum = fadd <8 x float> %a, %b
  store <8 x float> %sum, ptr %out
  ret void
}

; A column that is read after a write stays behind it.
; CHECK-LABEL: define void @written_between(
; CHECK-COUNT-8: load <4 x float>
; CHECK: store float 1.0
; CHECK-COUNT-8: load <4 x float>
; CHECK: ret void
define void @written_between(ptr addrspace(3) %tile, ptr %out) {
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %tile, i64 132)
  store float 1.0, ptr addrspace(3) %tile
  %next = getelementptr i8, ptr addrspace(3) %tile, i64 4
  %b = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %next, i64 132)
  %sum = fadd <8 x float> %a, %b
  store <8 x float> %sum, ptr %out
  ret void
}

; Rows of another length have other blocks.
; CHECK-LABEL: define void @other_rows(
; CHECK-COUNT-16: load <4 x float>
; CHECK: ret void
define void @other_rows(ptr addrspace(3) %tile, ptr %out) {
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %tile, i64 132)
  %next = getelementptr i8, ptr addrspace(3) %tile, i64 4
  %b = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %next, i64 136)
  %sum = fadd <8 x float> %a, %b
  store <8 x float> %sum, ptr %out
  ret void
}
