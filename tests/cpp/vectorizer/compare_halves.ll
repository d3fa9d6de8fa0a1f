; RUN: compare-halves 8 sapphirerapids
; Halves are compared as floats, if the comparison is no part of a minimum and changes with the order of its operands.
; CHECK-LABEL: define <8 x i1> @joined
; CHECK-NEXT: %[[A:.*]] = fpext <8 x half> %a to <8 x float>
; CHECK-NEXT: %[[B:.*]] = fpext <8 x half> %b to <8 x float>
; CHECK-NEXT: %less = fcmp nnan ult <8 x float> %[[A]], %[[B]]
; CHECK-NEXT: %same = fcmp oeq <8 x half> %a, %b
define <8 x i1> @joined(<8 x half> %a, <8 x half> %b) {
  %less = fcmp nnan ult <8 x half> %a, %b
  %same = fcmp oeq <8 x half> %a, %b
  %both = and <8 x i1> %less, %same
  ret <8 x i1> %both
}

; CHECK-LABEL: define half @smaller
; CHECK-NEXT: %less = fcmp olt half %a, %b
define half @smaller(half %a, half %b) {
  %less = fcmp olt half %a, %b
  %minimum = select i1 %less, half %a, half %b
  ret half %minimum
}

; CHECK-LABEL: define half @chosen
; CHECK: %less = fcmp olt float
define half @chosen(half %a, half %b, half %c) {
  %less = fcmp olt half %a, %b
  %one = select i1 %less, half %a, half %c
  ret half %one
}
