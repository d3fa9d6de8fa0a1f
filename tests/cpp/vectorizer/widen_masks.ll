; RUN: widen-masks
; Where bits of masks are combined, they become numbers that are all ones or all zeros.
; CHECK-LABEL: define <4 x float> @kernel
; CHECK: %[[LESS:.*]] = sext <4 x i1> %less to <4 x i32>
; CHECK: %[[NEGATIVE:.*]] = sext <4 x i1> %negative to <4 x i32>
; CHECK: %[[BOTH:.*]] = and <4 x i32> %[[LESS]], %[[NEGATIVE]]
; CHECK: %[[MASK:.*]] = icmp slt <4 x i32> %[[BOTH]], zeroinitializer
; CHECK: select <4 x i1> %[[MASK]], <4 x float> %a, <4 x float> %b
define <4 x float> @kernel(<4 x float> %a, <4 x float> %b, <4 x i32> %i) {
  %less = fcmp olt <4 x float> %a, %b
  %negative = icmp slt <4 x i32> %i, zeroinitializer
  %both = and <4 x i1> %less, %negative
  %result = select <4 x i1> %both, <4 x float> %a, <4 x float> %b
  ret <4 x float> %result
}
