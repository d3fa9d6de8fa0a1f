; RUN: make-body
; If rows are known to be multiples of 8, their length is masked. Positions in the grid then start at multiples, too,
; and 8 lanes have one quotient by 8. This is for rows, not for columns.
; CHECK-LABEL: define internal void @kernel.body(
; Threads that do not depend on their threadgroup may belong to a coarsened one.
; CHECK-SAME: i32 range(i32 0, 8192) %x
; CHECK: %[[WIDTH:.*]] = and i32 %{{.*}}, -8
; CHECK: %[[X:.*]] = mul nuw i32 %{{.*}}, %[[WIDTH]]
; CHECK-NEXT: add nuw i32 %[[X]], %x
; CHECK-NOT: and
; CHECK: add nuw i32 %{{.*}}, %y
define void @kernel() {
  %x = call i32 @__metal_get_thread_position_in_grid(i32 0)
  %y = call i32 @__metal_get_thread_position_in_grid(i32 1)
  %sum = add i32 %x, %y
  call void @use(i32 %sum)
  ret void
}
declare i32 @__metal_get_thread_position_in_grid(i32)
declare void @use(i32)
!kernel = !{!0, !1}
!0 = !{!"kernel", !"kernel"}
!1 = !{!"thread_position_in_grid", i32 2, i32 4, i32 8}
!row_multiple = !{!2}
!2 = !{i32 8}
