; RUN: make-body
; If code is made for one size of the threadgroup, its threads and SIMD-groups are constants. The size that was
; dispatched may be another one, because this code may be that of threadgroups that are cut at the edge of the grid.
; CHECK-LABEL: define internal void @kernel.body(
; CHECK: call void @use(i32 64)
; CHECK-NEXT: call void @use(i32 4)
; CHECK-NEXT: call void @use(i32 1)
; CHECK-NEXT: call void @use(i32 8)
; CHECK: %[[DISPATCHED:.*]] = load i32, ptr
; CHECK-NEXT: call void @use(i32 %[[DISPATCHED]])
; CHECK-NEXT: ret void
define void @kernel() {
  %x = call i32 @__metal_get_threads_per_threadgroup(i32 0)
  call void @use(i32 %x)
  %y = call i32 @__metal_get_threads_per_threadgroup(i32 1)
  call void @use(i32 %y)
  %z = call i32 @__metal_get_threads_per_threadgroup(i32 2)
  call void @use(i32 %z)
  %groups = call i32 @__metal_get_simdgroups_per_threadgroup(i32 0)
  call void @use(i32 %groups)
  %dispatched = call i32 @__metal_get_dispatch_threads_per_threadgroup(i32 0)
  call void @use(i32 %dispatched)
  ret void
}
declare i32 @__metal_get_threads_per_threadgroup(i32)
declare i32 @__metal_get_simdgroups_per_threadgroup(i32)
declare i32 @__metal_get_dispatch_threads_per_threadgroup(i32)
declare void @use(i32)
!kernel = !{!0, !1, !2, !3}
!0 = !{!"kernel", !"kernel"}
!1 = !{!"threads_per_threadgroup", i32 3, i32 4, i32 12}
!2 = !{!"simdgroups_per_threadgroup", i32 1, i32 4, i32 4}
!3 = !{!"dispatch_threads_per_threadgroup", i32 3, i32 4, i32 12}
!rows = !{!4}
!4 = !{i32 64, i32 4}
