; RUN: make-body
; Two threadgroups of 8x4 threads run as one of 16x4. Each thread sees its own threadgroup.
; CHECK-LABEL: define internal void @kernel.body(
; CHECK-SAME: range(i32 0, 16) %x,
; CHECK: %[[X:.*]] = and i32 %x, 7
; CHECK-NEXT: call void @use(i32 %[[X]])
; CHECK: %[[ROWS:.*]] = mul nuw i32 %y, 8
; CHECK: %[[COLUMN:.*]] = and i32 %x, 7
; CHECK: %[[INDEX:.*]] = add nuw i32 %[[ROWS]], %[[COLUMN]]
; CHECK-NEXT: call void @use(i32 %[[INDEX]])
; CHECK: %[[FIRST:.*]] = mul nuw i32 %{{.*}}, 2
; CHECK: %[[NUMBER:.*]] = udiv i32 %x, 8
; CHECK: %[[GROUP:.*]] = add nuw i32 %[[FIRST]], %[[NUMBER]]
; CHECK-NEXT: call void @use(i32 %[[GROUP]])
; CHECK-NEXT: call void @use(i32 8)
; CHECK-NEXT: call void @use(i32 8)
; CHECK: %[[COUNT:.*]] = udiv i32 %{{.*}}, 8
; CHECK-NEXT: call void @use(i32 %[[COUNT]])
; CHECK-NEXT: ret void
define void @kernel() {
  %x = call i32 @__metal_get_thread_position_in_threadgroup(i32 0)
  call void @use(i32 %x)
  %index = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  call void @use(i32 %index)
  %group = call i32 @__metal_get_threadgroup_position_in_grid(i32 0)
  call void @use(i32 %group)
  %size = call i32 @__metal_get_threads_per_threadgroup(i32 0)
  call void @use(i32 %size)
  %dispatched = call i32 @__metal_get_dispatch_threads_per_threadgroup(i32 0)
  call void @use(i32 %dispatched)
  %count = call i32 @__metal_get_threadgroups_per_grid(i32 0)
  call void @use(i32 %count)
  ret void
}
declare i32 @__metal_get_thread_position_in_threadgroup(i32)
declare i32 @__metal_get_thread_index_in_threadgroup(i32)
declare i32 @__metal_get_threadgroup_position_in_grid(i32)
declare i32 @__metal_get_threads_per_threadgroup(i32)
declare i32 @__metal_get_dispatch_threads_per_threadgroup(i32)
declare i32 @__metal_get_threadgroups_per_grid(i32)
declare void @use(i32)
!kernel = !{!0, !1, !2, !3, !4, !5, !6}
!0 = !{!"kernel", !"kernel"}
!1 = !{!"thread_position_in_threadgroup", i32 3, i32 4, i32 12}
!2 = !{!"thread_index_in_threadgroup", i32 1, i32 4, i32 4}
!3 = !{!"threadgroup_position_in_grid", i32 3, i32 4, i32 12}
!4 = !{!"threads_per_threadgroup", i32 3, i32 4, i32 12}
!5 = !{!"dispatch_threads_per_threadgroup", i32 3, i32 4, i32 12}
!6 = !{!"threadgroups_per_grid", i32 3, i32 4, i32 12}
!rows = !{!7}
!7 = !{i32 16, i32 4}
!joined = !{!8}
!8 = !{i32 2, i32 0, i32 8}
