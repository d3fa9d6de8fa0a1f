; RUN: make-body
; If gangs are SIMD-groups, a thread's number in the SIMD-group is the lane's number, which has known offsets, and is in a range. The range has one number more: see make_body.cpp.
; CHECK-LABEL: define internal void @kernel.body(
; CHECK-SAME: i32 range(i32 0, 33) %lane
; CHECK-NOT: and i32
; CHECK: call i32 @__metal_simd_any(i32 %lane)
define void @kernel() {
  %lane = call i32 @__metal_get_thread_index_in_simdgroup(i32 0)
  %any = call i32 @__metal_simd_any(i32 %lane)
  ret void
}
declare i32 @__metal_get_thread_index_in_simdgroup(i32)
declare i32 @__metal_simd_any(i32)
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
