; RUN: expand-bfloat
; No common processor computes in bfloat. Each operation becomes a float operation and a rounding to nearest, ties to
; even.
; CHECK-LABEL: define bfloat @sum
; CHECK: %[[X:.*]] = shl i32 %{{.*}}, 16
; CHECK: %[[Y:.*]] = shl i32 %{{.*}}, 16
; CHECK: %[[SUM:.*]] = fadd fast float
; CHECK: %[[BITS:.*]] = bitcast float %[[SUM]] to i32
; CHECK: %[[HIGH:.*]] = lshr i32 %[[BITS]], 16
; CHECK: %[[ODD:.*]] = and i32 %[[HIGH]], 1
; CHECK: add i32 %[[ODD]], 32767
; A value may be NaN whatever its flags say; rounding a NaN as a number would make it infinite.
; CHECK: fcmp uno float %[[SUM]], %[[SUM]]
; CHECK-NOT: bfloat %
; CHECK: trunc i32 %{{.*}} to i16
define bfloat @sum(bfloat %x, bfloat %y) {
  %sum = fadd fast bfloat %x, %y
  ret bfloat %sum
}
; Sign changes are made in the bits, as a multiplication would drop the sign of a NaN.
; CHECK-LABEL: define bfloat @signs
; CHECK: xor i16 %{{.*}}, -32768
; CHECK: and i16 %{{.*}}, 32767
; CHECK-NOT: fneg
define bfloat @signs(bfloat %x) {
  %minus = fneg bfloat %x
  %plus = call bfloat @llvm.fabs.bf16(bfloat %minus)
  ret bfloat %plus
}
declare bfloat @llvm.fabs.bf16(bfloat)
; Comparisons and conversions need no rounding of their operands.
; CHECK-LABEL: define i1 @compares
; CHECK: fcmp olt float
; CHECK-NOT: add
; CHECK: ret i1
define i1 @compares(bfloat %x, bfloat %y) {
  %less = fcmp olt bfloat %x, %y
  ret i1 %less
}
; CHECK-LABEL: define i32 @number
; CHECK: fptosi float %{{.*}} to i32
define i32 @number(bfloat %x) {
  %number = fptosi bfloat %x to i32
  ret i32 %number
}
; Moves stay, and so do operations on floats and halves, which processors support.
; CHECK-LABEL: define bfloat @moves
; CHECK-NEXT: %value = load bfloat, ptr %from
; CHECK-NEXT: %chosen = select i1 %which, bfloat %value, bfloat 0
; CHECK-NEXT: ret bfloat %chosen
define bfloat @moves(ptr %from, i1 %which) {
  %value = load bfloat, ptr %from
  %chosen = select i1 %which, bfloat %value, bfloat 0.0
  ret bfloat %chosen
}
; CHECK-LABEL: define half @halves
; CHECK-NEXT: %sum = fadd half %x, %x
; CHECK-NEXT: %wide = fpext half %sum to float
; CHECK-NEXT: %narrow = fptrunc float %wide to half
define half @halves(half %x) {
  %sum = fadd half %x, %x
  %wide = fpext half %sum to float
  %narrow = fptrunc float %wide to half
  ret half %narrow
}
