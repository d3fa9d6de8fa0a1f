; RUN: unguarded-forms
; Sums and signed extensions that were rewritten because of a branch are what they were: lane 0 may be kept out by it, and
; all lanes' values are counted from lane 0's.
; CHECK-LABEL: define i64 @guarded
; CHECK: %sum = add nuw nsw i32 %x, 3
; CHECK-NEXT: %wide = sext i32 %sum to i64
define i64 @guarded(i32 %x) {
  %sum = or disjoint i32 %x, 3
  %wide = zext nneg i32 %sum to i64
  ret i64 %wide
}
; What was written as an or, or as an unsigned number, stays: another operation would give another value.
; CHECK-LABEL: define i64 @written
; CHECK: %bits = or i32 %x, 3
; CHECK-NEXT: %wide = zext i32 %bits to i64
define i64 @written(i32 %x) {
  %bits = or i32 %x, 3
  %wide = zext i32 %bits to i64
  ret i64 %wide
}
