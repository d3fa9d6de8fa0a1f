; RUN: shapes 4
; Offsets that cancel make a value uniform only if no lane can have wrapped around: -1 extended to 64 bits is not the 0
; of lane 0 less 1.
; CHECK: %down: lane 0 + 0 -1 -2 -3, 2 zero bits
; CHECK: %wide: lane 0 + 0 -1 -2 -3, 2 zero bits, if no lane wraps around
; CHECK: %sum: varying
; CHECK: %narrow: uniform
define void @kernel(i32 %x) {
entry:
  %up = sext i32 %x to i64
  %down = sub i32 0, %x
  %wide = zext i32 %down to i64
  %sum = add i64 %up, %wide
  %narrow = add i32 %down, %x
  ret void
}
