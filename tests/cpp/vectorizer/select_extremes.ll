; RUN: select-extremes 8 x86-64-v3
; The largest value so far is never NaN if the loop starts with a number: it wins against NaN as the second operand.
; CHECK-LABEL: define <8 x float> @largest(
; CHECK: %[[WINS:.*]] = fcmp ogt <8 x float> %value, %most
; CHECK-NEXT: %first = select <8 x i1> %[[WINS]], <8 x float> %value, <8 x float> %most
; CHECK-NEXT: %[[AGAIN:.*]] = fcmp ogt <8 x float> %other, %first
; CHECK-NEXT: %next = select <8 x i1> %[[AGAIN]], <8 x float> %other, <8 x float> %first
; CHECK: ret <8 x float> %next
define <8 x float> @largest(ptr %x, ptr %y, i1 %more) {
entry:
  br label %loop
loop:
  %most = phi <8 x float> [ splat (float 0xFFF0000000000000), %entry ], [ %next, %loop ]
  %value = load <8 x float>, ptr %x
  %other = load <8 x float>, ptr %y
  %first = call <8 x float> @llvm.maxnum.v8f32(<8 x float> %most, <8 x float> %value)
  %next = call <8 x float> @llvm.maxnum.v8f32(<8 x float> %other, <8 x float> %first)
  br i1 %more, label %loop, label %end
end:
  ret <8 x float> %next
}
; If the first value may be NaN, that of the last iteration is the second operand.
; CHECK-LABEL: define <8 x float> @smallest(
; CHECK: %next = call <8 x float> @llvm.minnum.v8f32(<8 x float> %value, <8 x float> %least)
define <8 x float> @smallest(ptr %x, i1 %more) {
entry:
  %start = load <8 x float>, ptr %x
  br label %loop
loop:
  %least = phi <8 x float> [ %start, %entry ], [ %next, %loop ]
  %value = load <8 x float>, ptr %x
  %next = call <8 x float> @llvm.minnum.v8f32(<8 x float> %least, <8 x float> %value)
  br i1 %more, label %loop, label %end
end:
  ret <8 x float> %next
}
; A value that the loop changes in another way may become NaN.
; CHECK-LABEL: define float @changed(
; CHECK: call float @llvm.maxnum.f32(float %value, float %most)
define float @changed(ptr %x, i1 %more) {
entry:
  br label %loop
loop:
  %most = phi float [ 0.0, %entry ], [ %next, %loop ]
  %value = load float, ptr %x
  %larger = call float @llvm.maxnum.f32(float %most, float %value)
  %next = fsub float %larger, %value
  br i1 %more, label %loop, label %end
end:
  ret float %next
}
declare <8 x float> @llvm.maxnum.v8f32(<8 x float>, <8 x float>)
declare <8 x float> @llvm.minnum.v8f32(<8 x float>, <8 x float>)
declare float @llvm.maxnum.f32(float, float)
