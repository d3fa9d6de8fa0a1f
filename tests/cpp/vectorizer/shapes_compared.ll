; RUN: shapes 4
; The lanes' values fill an aligned range of four. If the limit is a multiple of four, all or none are below it.
; CHECK-DAG: %below: uniform
; CHECK-DAG: %beside: uniform
; CHECK-DAG: %up_to: uniform
; CHECK-DAG: %signed: uniform
; CHECK-DAG: %signed_up_to: uniform
; CHECK-DAG: %turned: uniform
; CHECK-DAG: %turned_up_to: varying
; CHECK-DAG: %first_lane: varying
; CHECK-DAG: %of_or: varying
; CHECK-DAG: %of_xor: varying
; CHECK-DAG: %of_sum: varying
; CHECK-DAG: %of_difference: varying
; CHECK-DAG: %of_quotient: varying
; CHECK-DAG: %of_remainder: varying
; CHECK-DAG: %of_shift: varying
; CHECK-DAG: %of_less: varying
define void @kernel(i32 %x, i32 %same) {
entry:
  %multiple = and i32 %same, -4
  %below = icmp ult i32 %x, %multiple
  %beside = icmp uge i32 %x, %multiple
  %up_to = icmp ule i32 %x, 7
  %signed = icmp slt i32 %x, %multiple
  %signed_up_to = icmp sgt i32 %x, 7
  %turned = icmp sgt i32 %multiple, %x
  %turned_up_to = icmp sge i32 %multiple, %x
  %first_lane = icmp eq i32 %x, %multiple
  %or = or i32 %same, 4
  %of_or = icmp ult i32 %x, %or
  %xor = xor i32 %same, 4
  %of_xor = icmp ult i32 %x, %xor
  %sum = add i32 %same, 4
  %of_sum = icmp ult i32 %x, %sum
  %difference = sub i32 %same, 4
  %of_difference = icmp uge i32 %x, %difference
  %quotient = udiv i32 %same, 4
  %of_quotient = icmp ult i32 %x, %quotient
  %remainder = urem i32 %same, 4
  %of_remainder = icmp ult i32 %x, %remainder
  %shift = lshr i32 %same, 4
  %of_shift = icmp ult i32 %x, %shift
  %less = and i32 %same, -2
  %of_less = icmp ult i32 %x, %less
  ret void
}
