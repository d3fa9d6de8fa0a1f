; RUN: legalize-masks
; Masks that are combined become integers that are all ones or all zeros.
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
; This includes masks that one bit selects.
; CHECK-LABEL: define <4 x float> @one_for_all
; CHECK: %[[LESS:.*]] = sext <4 x i1> %less to <4 x i32>
; CHECK: %[[CHOSEN:.*]] = select i1 %wanted, <4 x i32> %[[LESS]], <4 x i32> zeroinitializer
; CHECK: %[[MASK:.*]] = icmp slt <4 x i32> %[[CHOSEN]], zeroinitializer
; CHECK: select <4 x i1> %[[MASK]], <4 x float> %a, <4 x float> %b
define <4 x float> @one_for_all(<4 x float> %a, <4 x float> %b, i1 %wanted) {
  %less = fcmp olt <4 x float> %a, %b
  %chosen = select i1 %wanted, <4 x i1> %less, <4 x i1> zeroinitializer
  %result = select <4 x i1> %chosen, <4 x float> %a, <4 x float> %b
  ret <4 x float> %result
}
