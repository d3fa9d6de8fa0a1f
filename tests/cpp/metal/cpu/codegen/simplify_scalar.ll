; RUN: simplify-scalar
; Private variables become values, and branches on constants go, before loops are looked at.
; CHECK-LABEL: define void @kernel.body(
; CHECK-NEXT: taken:
; CHECK-NEXT: [[VALUE:%.*]] = add i32 %x, 1
; CHECK-NEXT: store i32 [[VALUE]], ptr %group
; CHECK-NEXT: ret void
define void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index) {
  %private = alloca i32
  %sum = add i32 %x, 1
  store i32 %sum, ptr %private
  br i1 true, label %taken, label %never
taken:
  %value = load i32, ptr %private
  store i32 %value, ptr %group
  ret void
never:
  store i32 0, ptr %group
  ret void
}
