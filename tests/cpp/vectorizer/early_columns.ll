; RUN: early-columns 8
; The column is read before the guard, as its index is small whether the guard holds or not.
; CHECK-LABEL: define void @guarded(
; CHECK: %row = getelementptr float, ptr addrspace(3) %tile, i32 %y
; CHECK: call <8 x float> @"simd.column
; CHECK: br i1 %inside
; CHECK-NOT: call
; CHECK: ret void
declare <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) nocapture, i64) nosync nounwind willreturn memory(argmem: read)
define void @guarded(ptr %group, i32 range(i32 0, 32) %x, i32 range(i32 0, 8) %y, i32 %z, i32 %index, i32 %lane, i1 %inside) {
  %place = getelementptr i8, ptr %group, i64 8
  %memory = load ptr, ptr %place
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  br i1 %inside, label %some, label %end
some:
  %row = getelementptr float, ptr addrspace(3) %tile, i32 %y
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %row, i64 132)
  store <8 x float> %a, ptr %group
  br label %end
end:
  ret void
}

; The guard may be what keeps the index small.
; CHECK-LABEL: define void @any_index(
; CHECK: br i1 %inside
; CHECK: call <8 x float> @"simd.column
; CHECK: ret void
define void @any_index(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %place = getelementptr i8, ptr %group, i64 8
  %memory = load ptr, ptr %place
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  %inside = icmp ult i32 %y, 8
  br i1 %inside, label %some, label %end
some:
  %row = getelementptr float, ptr addrspace(3) %tile, i32 %y
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %row, i64 132)
  store <8 x float> %a, ptr %group
  br label %end
end:
  ret void
}

; What is read after a write stays there.
; CHECK-LABEL: define void @written(
; CHECK: br i1 %inside
; CHECK: store float
; CHECK: call <8 x float> @"simd.column
; CHECK: ret void
define void @written(ptr %group, i32 %x, i32 range(i32 0, 8) %y, i32 %z, i32 %index, i32 %lane, i1 %inside) {
  %place = getelementptr i8, ptr %group, i64 8
  %memory = load ptr, ptr %place
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  br i1 %inside, label %some, label %end
some:
  %row = getelementptr float, ptr addrspace(3) %tile, i32 %y
  store float 1.0, ptr addrspace(3) %row
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %row, i64 132)
  store <8 x float> %a, ptr %group
  br label %end
end:
  ret void
}

; So does memory that does not start where the threadgroup's does.
; CHECK-LABEL: define void @elsewhere(
; CHECK: br i1 %inside
; CHECK: call <8 x float> @"simd.column
; CHECK: ret void
define void @elsewhere(ptr %group, i32 %x, i32 range(i32 0, 8) %y, i32 %z, i32 %index, i32 %lane, i1 %inside) {
  %place = getelementptr i8, ptr %group, i64 16
  %memory = load ptr, ptr %place
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  br i1 %inside, label %some, label %end
some:
  %row = getelementptr float, ptr addrspace(3) %tile, i32 %y
  %a = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %row, i64 132)
  store <8 x float> %a, ptr %group
  br label %end
end:
  ret void
}
