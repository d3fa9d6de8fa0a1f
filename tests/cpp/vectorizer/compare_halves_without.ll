; RUN: compare-halves 8 x86-64-v4
; A processor that does not compute with halves compares them as floats anyway.
; CHECK-LABEL: define i1 @less
; CHECK-NEXT: fcmp olt half %a, %b
define i1 @less(half %a, half %b) {
  %less = fcmp olt half %a, %b
  ret i1 %less
}
