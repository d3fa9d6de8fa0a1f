; RUN: place-group
; The checks of a body report the threadgroup that it belongs to.
; CHECK-LABEL: define void @kernel.body(
; CHECK-NEXT: call void @report(ptr %group)
; CHECK-NEXT: call void @report(ptr %group)
; CHECK-NOT: @check.group
define void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index) {
  %first = call ptr @check.group()
  call void @report(ptr %first)
  %second = call ptr @check.group()
  call void @report(ptr %second)
  ret void
}
declare ptr @check.group()
declare void @report(ptr)
