; RUN: prefetch-ahead
; Each thread of a threadgroup that waits at barriers reads elements that are far apart: they are prefetched for the
; next threadgroup, which is the neighbour in x, or in y if there is none in x. The next gang of the row prefetches on
; where a gang ends.
; CHECK-LABEL: define void @rows
; CHECK: %[[COUNT:.*]] = load i32, ptr %{{.*}}, !invariant.load
; CHECK: %[[ONE:.*]] = icmp eq i32 %[[COUNT]], 1
; CHECK: %[[IN_Y:.*]] = zext i1 %[[ONE]] to i32
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1), !simd.stream
; CHECK-NEXT: %a = load float, ptr addrspace(1) %first
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1), !simd.stream
; CHECK-NEXT: %b = load float, ptr addrspace(1) %second
; CHECK-NOT: prefetch
; CHECK: ret void
define void @rows(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, ptr addrspace(3) %sums) {
  %place = getelementptr i8, ptr %group, i64 16
  %position = load i32, ptr %place, !invariant.load !0
  %row = shl nuw nsw i32 %position, 11
  %element = or disjoint i32 %row, %x
  %wide = zext i32 %element to i64
  %first = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %second = getelementptr i8, ptr addrspace(1) %first, i64 1024
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %again = load float, ptr addrspace(1) %first
  %both = fadd float %a, %b
  %all = fadd float %both, %again
  store float %all, ptr addrspace(3) %sums
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
; They are not if they are neighbours, if the next threadgroup reads the same or its neighbours, or without barriers.
; CHECK-NOT: call void @llvm.prefetch
define void @near(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, ptr addrspace(3) %sums) {
  %place = getelementptr i8, ptr %group, i64 16
  %position = load i32, ptr %place, !invariant.load !0
  %wide = zext i32 %position to i64
  %first = getelementptr [2048 x float], ptr addrspace(1) %in, i64 %wide
  %second = getelementptr i8, ptr addrspace(1) %first, i64 128
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %both = fadd float %a, %b
  store float %both, ptr addrspace(3) %sums
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
define void @shared(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, ptr addrspace(3) %sums) {
  %wide = zext i32 %x to i64
  %first = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %second = getelementptr i8, ptr addrspace(1) %first, i64 1024
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %both = fadd float %a, %b
  store float %both, ptr addrspace(3) %sums
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
define void @free(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, ptr addrspace(3) %sums) {
  %place = getelementptr i8, ptr %group, i64 16
  %position = load i32, ptr %place, !invariant.load !0
  %wide = zext i32 %position to i64
  %first = getelementptr [2048 x float], ptr addrspace(1) %in, i64 %wide
  %second = getelementptr i8, ptr addrspace(1) %first, i64 1024
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %both = fadd float %a, %b
  store float %both, ptr addrspace(3) %sums
  ret void
}
declare void @__metal_barrier(i32, i32)
!0 = !{}
; Nothing reads on if a thread leaves out the next element.
; CHECK-LABEL: define void @apart
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1){{$}}
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1){{$}}
define void @apart(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, ptr addrspace(3) %sums) {
  %place = getelementptr i8, ptr %group, i64 16
  %position = load i32, ptr %place, !invariant.load !0
  %row = shl nuw nsw i32 %position, 11
  %twice = shl nuw nsw i32 %x, 1
  %element = add nuw nsw i32 %row, %twice
  %wide = zext i32 %element to i64
  %first = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %second = getelementptr i8, ptr addrspace(1) %first, i64 2048
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %both = fadd float %a, %b
  store float %both, ptr addrspace(3) %sums
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
