; RUN: define-arithmetic
; Shift amounts are taken modulo the width, for each element.
; CHECK-LABEL: define i32 @shift
; CHECK-NEXT: %[[AMOUNT:.*]] = and i32 %by, 31
; CHECK-NEXT: shl i32 %x, %[[AMOUNT]]
define i32 @shift(i32 %x, i32 %by) {
  %shifted = shl i32 %x, %by
  ret i32 %shifted
}
; CHECK-LABEL: define <2 x i16> @shifts
; CHECK-NEXT: %[[AMOUNTS:.*]] = and <2 x i16> %by, {{(splat \(i16 15\)|<i16 15, i16 15>)}}
; CHECK-NEXT: ashr <2 x i16> %x, %[[AMOUNTS]]
define <2 x i16> @shifts(<2 x i16> %x, <2 x i16> %by) {
  %shifted = ashr <2 x i16> %x, %by
  ret <2 x i16> %shifted
}
; The largest valid amount stays; a larger one does not.
; CHECK-LABEL: define i32 @constant
; CHECK-NEXT: %most = lshr i32 %x, 31
; CHECK-NEXT: %none = lshr i32 %most, 0
define i32 @constant(i32 %x) {
  %most = lshr i32 %x, 31
  %none = lshr i32 %most, 32
  ret i32 %none
}
; A divisor of zero becomes one. So does -1, as the smallest integer has no quotient by it; the quotient is negated then.
; CHECK-LABEL: define i32 @unsigned
; CHECK-NEXT: %[[ZERO:.*]] = icmp eq i32 %by, 0
; CHECK-NEXT: %[[BY:.*]] = select i1 %[[ZERO]], i32 1, i32 %by
; CHECK-NEXT: udiv i32 %x, %[[BY]]
define i32 @unsigned(i32 %x, i32 %by) {
  %quotient = udiv i32 %x, %by
  ret i32 %quotient
}
; CHECK-LABEL: define i32 @signed
; CHECK-NEXT: %[[ZERO:.*]] = icmp eq i32 %by, 0
; CHECK-NEXT: %[[MINUS:.*]] = icmp eq i32 %by, -1
; CHECK-NEXT: %[[BAD:.*]] = or i1 %[[ZERO]], %[[MINUS]]
; CHECK-NEXT: %[[BY:.*]] = select i1 %[[BAD]], i32 1, i32 %by
; CHECK-NEXT: %quotient = sdiv i32 %x, %[[BY]]
; CHECK-NEXT: %[[SIGN:.*]] = select i1 %[[MINUS]], i32 -1, i32 1
; CHECK-NEXT: %[[RESULT:.*]] = mul i32 %quotient, %[[SIGN]]
; CHECK-NEXT: ret i32 %[[RESULT]]
define i32 @signed(i32 %x, i32 %by) {
  %quotient = sdiv i32 %x, %by
  ret i32 %quotient
}
; There is no rest by -1, nor by 1: nothing is negated.
; CHECK-LABEL: define i32 @rest
; CHECK-NEXT: %[[ZERO:.*]] = icmp eq i32 %by, 0
; CHECK-NEXT: %[[MINUS:.*]] = icmp eq i32 %by, -1
; CHECK-NEXT: %[[BAD:.*]] = or i1 %[[ZERO]], %[[MINUS]]
; CHECK-NEXT: %[[BY:.*]] = select i1 %[[BAD]], i32 1, i32 %by
; CHECK-NEXT: %rest = srem i32 %x, %[[BY]]
; CHECK-NEXT: ret i32 %rest
define i32 @rest(i32 %x, i32 %by) {
  %rest = srem i32 %x, %by
  ret i32 %rest
}
; Divisors that are always valid cost nothing. -1 is invalid for signed integers only.
; CHECK-LABEL: define i32 @constants
; CHECK-NEXT: %third = sdiv i32 %x, 3
; CHECK-NEXT: %none = udiv i32 %third, -1
; CHECK-NEXT: ret i32 %none
define i32 @constants(i32 %x) {
  %third = sdiv i32 %x, 3
  %none = udiv i32 %third, -1
  ret i32 %none
}
; CHECK-LABEL: define i32 @minus
; CHECK: sdiv i32 %x, 1
; CHECK-NEXT: mul i32 %quotient, -1
define i32 @minus(i32 %x) {
  %quotient = sdiv i32 %x, -1
  ret i32 %quotient
}
; CHECK-LABEL: define i32 @rest_of_minus
; CHECK-NEXT: %rest = srem i32 %x, 1
; CHECK-NEXT: ret i32 %rest
define i32 @rest_of_minus(i32 %x) {
  %rest = srem i32 %x, -1
  ret i32 %rest
}
; CHECK-LABEL: define <2 x i64> @rests_of_minus
; CHECK-NEXT: %rests = srem <2 x i64> %x, {{(splat \(i64 1\)|<i64 1, i64 1>)}}
; CHECK-NEXT: ret <2 x i64> %rests
define <2 x i64> @rests_of_minus(<2 x i64> %x) {
  %rests = srem <2 x i64> %x, <i64 -1, i64 -1>
  ret <2 x i64> %rests
}
; One invalid element is enough.
; CHECK-LABEL: define <2 x i32> @elements
; CHECK: udiv <2 x i32> %x, <i32 1, i32 5>
define <2 x i32> @elements(<2 x i32> %x) {
  %quotients = udiv <2 x i32> %x, <i32 0, i32 5>
  ret <2 x i32> %quotients
}
