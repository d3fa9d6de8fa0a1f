; RUN: shapes 8
; Values that lanes compute from their numbers alone are known for each lane, whatever the operations.
; CHECK: %short: lane 0 + 0 0 0 0 1 1 1 1, 16 zero bits
; CHECK: %wide: lane 0 + 0 0 0 0 1 1 1 1, 32 zero bits
; CHECK: %remainder: lane 0 + 0 1 2 0 1 2 0 1, 32 zero bits
; CHECK: %down: lane 0 + 0 -1 -2 -3 -4 -5 -6 -7, 32 zero bits
; CHECK: %arithmetic: lane 0 + 0 -1 -1 -2 -2 -3 -3 -4, 32 zero bits
; CHECK: %product: lane 0 + 0 0 0 0 1 1 1 1, 32 zero bits
; CHECK: %squared: lane 0 + 0 1 4 9 16 25 36 49, 32 zero bits
; CHECK: %extended: lane 0 + 0 1 4 9 16 25 36 49, 64 zero bits
; CHECK: %behind: lane 0 + 0 1 4 9 16 25 36 49
; So are those that start with another number.
; CHECK: %quotient: lane 0 + 0 0 0 1 1 1 2 2
; CHECK: %rest: lane 0 + 0 1 2 0 1 2 0 1
; CHECK: %by_zero: varying
; CHECK: %mixed: varying
; What is left of an index in a row of 16 is 0 in lane 0, if rows start with a gang.
; CHECK: %column: lane 0 + 0 1 2 3 4 5 6 7, 32 zero bits
; CHECK: %longer: lane 0 + 0 1 2 3 4 5 6 7, 4 zero bits
define void @kernel(i32 %lane, i32 %same) {
  %narrow = trunc i32 %lane to i16
  %short = sdiv i16 %narrow, 4
  %wide = sext i16 %short to i32
  %remainder = urem i32 %lane, 3
  %down = sub i32 0, %lane
  %arithmetic = ashr i32 %down, 1
  %product = lshr i32 %lane, 2
  %squared = mul i32 %lane, %lane
  %extended = zext i32 %squared to i64
  %behind = add i64 %extended, 5
  %later = add i32 %lane, 48
  %quotient = udiv i32 %later, 3
  %rest = urem i32 %later, 3
  %by_zero = udiv i32 7, %lane
  %mixed = urem i32 %same, %lane
  %row = shl i32 %same, 4
  %index = add i32 %row, %lane
  %column = and i32 %index, 15
  %longer = and i32 %index, 31
  ret void
}
