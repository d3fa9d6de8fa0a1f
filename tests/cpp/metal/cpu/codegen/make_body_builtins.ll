; RUN: make-body
; A thread's position is computed from the body's arguments. A component that an attribute does not have is 0.
; CHECK-LABEL: define internal void @kernel.body(
; CHECK: call void @use(i32 %y)
; CHECK-NEXT: call void @use(i32 %index)
; CHECK-NEXT: call void @use(i32 32)
; CHECK-NEXT: call void @use(i32 0)
; Positions do not wrap around, so sums of them with offsets can be compared.
; CHECK: %[[START:.*]] = mul nuw i32 %{{.*}}, %{{.*}}
; CHECK-NEXT: %[[AT:.*]] = add nuw i32 %[[START]], %x
; CHECK-NEXT: call void @use(i32 %[[AT]])
; If a gang is no SIMD-group, the lane's number in the SIMD-group is computed.
; CHECK-NEXT: %[[LANE:.*]] = and i32 %index, 31
; CHECK-NEXT: call void @use(i32 %[[LANE]])
; A threadgroup of 33 threads has two SIMD-groups.
; CHECK: %[[MORE:.*]] = add i32 %{{.*}}, 31
; CHECK-NEXT: %[[GROUPS:.*]] = udiv i32 %[[MORE]], 32
; CHECK-NEXT: call void @use(i32 %[[GROUPS]])
; CHECK-NEXT: ret void
define void @kernel() {
  %a = call i32 @__metal_get_thread_position_in_threadgroup(i32 1)
  call void @use(i32 %a)
  %b = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  call void @use(i32 %b)
  %c = call i32 @__metal_get_threads_per_simdgroup(i32 0)
  call void @use(i32 %c)
  %d = call i32 @__metal_get_thread_position_in_grid(i32 3)
  call void @use(i32 %d)
  %e = call i32 @__metal_get_thread_position_in_grid(i32 0)
  call void @use(i32 %e)
  %f = call i32 @__metal_thread_index_in_simdgroup()
  call void @use(i32 %f)
  %g = call i32 @__metal_get_simdgroups_per_threadgroup(i32 0)
  call void @use(i32 %g)
  ret void
}
declare i32 @__metal_get_thread_position_in_threadgroup(i32)
declare i32 @__metal_get_thread_index_in_threadgroup(i32)
declare i32 @__metal_get_threads_per_simdgroup(i32)
declare i32 @__metal_get_thread_position_in_grid(i32)
declare i32 @__metal_thread_index_in_simdgroup()
declare i32 @__metal_get_simdgroups_per_threadgroup(i32)
declare void @use(i32)
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
