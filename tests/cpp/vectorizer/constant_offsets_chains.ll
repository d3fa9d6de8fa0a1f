; RUN: constant-offsets
; Constants move through a whole chain of additions.
; CHECK-LABEL: define ptr @chain
; CHECK: %[[ROW:.*]] = getelementptr float, ptr %in, i64 %i
; CHECK: %[[PLACE:.*]] = getelementptr i16, ptr %[[ROW]], i64 %k
; CHECK: %[[AT:.*]] = getelementptr i8, ptr %[[PLACE]], i64 8
; CHECK-NEXT: ret ptr %[[AT]]
define ptr @chain(ptr %in, i64 %i, i64 %k) {
  %second = getelementptr { i64, i32 }, ptr %in, i64 0, i32 1
  %row = getelementptr float, ptr %second, i64 %i
  %at = getelementptr i16, ptr %row, i64 %k
  ret ptr %at
}
; Only the order of additions changes. Variable parts stay in place, and so does what already has this form.
; CHECK-LABEL: define ptr @variable
; CHECK-NEXT: %row = getelementptr float, ptr %in, i64 %i
; CHECK-NEXT: %at = getelementptr i16, ptr %row, i64 %k
; CHECK-NEXT: ret ptr %at
define ptr @variable(ptr %in, i64 %i, i64 %k) {
  %row = getelementptr float, ptr %in, i64 %i
  %at = getelementptr i16, ptr %row, i64 %k
  ret ptr %at
}
; CHECK-LABEL: define ptr @ends_with_constant
; CHECK-NEXT: %row = getelementptr inbounds float, ptr %in, i64 %i
; CHECK-NEXT: %at = getelementptr inbounds i8, ptr %row, i64 4
; CHECK-NEXT: ret ptr %at
define ptr @ends_with_constant(ptr %in, i64 %i) {
  %row = getelementptr inbounds float, ptr %in, i64 %i
  %at = getelementptr inbounds i8, ptr %row, i64 4
  ret ptr %at
}
; If an address is in bounds after one addition, it need not be so after the other.
; CHECK-LABEL: define ptr @bounds
; CHECK: %[[ROW:.*]] = getelementptr float, ptr %in, i64 %i
; CHECK-NEXT: %[[AT:.*]] = getelementptr i8, ptr %[[ROW]], i64 -4
; CHECK-NEXT: ret ptr %[[AT]]
define ptr @bounds(ptr %in, i64 %i) {
  %second = getelementptr inbounds i8, ptr %in, i64 -4
  %at = getelementptr inbounds float, ptr %second, i64 %i
  ret ptr %at
}
