; RUN: unguarded-forms
; Sums and signed extensions that LLVM rewrote because of a branch are restored: lane 0 may be inactive there, and all
; lanes' values are computed from lane 0's.
; CHECK-LABEL: define i64 @guarded
; CHECK: %sum = add nuw nsw i32 %x, 3
; CHECK-NEXT: %wide = sext i32 %sum to i64
define i64 @guarded(i32 %x) {
  %sum = or disjoint i32 %x, 3
  %wide = zext nneg i32 %sum to i64
  ret i64 %wide
}
; An or, or an unsigned extension, of the source stays, as another operation would give another value.
; CHECK-LABEL: define i64 @written
; CHECK: %bits = or i32 %x, 3
; CHECK-NEXT: %wide = zext i32 %bits to i64
define i64 @written(i32 %x) {
  %bits = or i32 %x, 3
  %wide = zext i32 %bits to i64
  ret i64 %wide
}
