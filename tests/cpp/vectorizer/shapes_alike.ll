; RUN: shapes 4
; If both operands grow alike, a comparison has one result. Order needs sums that do not wrap around in its sense.
; CHECK-DAG: %unsigned: uniform
; CHECK-DAG: %signed: uniform
; CHECK-DAG: %equal: uniform
; CHECK-DAG: %wrapping: varying
; CHECK-DAG: %wrapping_signed: varying
; CHECK-DAG: %other_steps: varying
; CHECK-DAG: %beside: varying
define void @kernel(i32 %v, i32 %index, i32 %same) {
entry:
  %run = shl nuw nsw i32 %index, 3
  %end = add nuw nsw i32 %run, 8
  %middle = add nuw nsw i32 %run, %same
  %unsigned = icmp ult i32 %middle, %end
  %signed = icmp slt i32 %middle, %end
  %apart = sub i32 %run, %same
  %equal = icmp eq i32 %apart, %end
  %wrapping = icmp ult i32 %apart, %end
  %wrapping_signed = icmp slt i32 %apart, %end
  %short = shl nuw nsw i32 %index, 2
  %other_steps = icmp ult i32 %short, %end
  %beside = icmp ult i32 %v, %end
  ret void
}
