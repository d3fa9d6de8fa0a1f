; RUN: share-exponentials
; One of two values is the larger one, so one of the two exponents is 0 or NaN, and its power is the exponent plus 1.
; CHECK-LABEL: define float @online(
; CHECK-NEXT: %now = call float @llvm.maxnum.f32(float %most, float %value)
; CHECK-NEXT: %before = fsub float %most, %now
; CHECK-NEXT: %after = fsub float %value, %now
; CHECK-NEXT: %[[KEPT:.*]] = fcmp oeq float %most, %now
; CHECK-NEXT: %[[EXPONENT:.*]] = select i1 %[[KEPT]], float %after, float %before
; CHECK-NEXT: %[[POWER:.*]] = call float @__metal_math_exp_precise(float %[[EXPONENT]])
; CHECK-NEXT: %[[ONE:.*]] = fadd float %before, 1.000000e+00
; CHECK-NEXT: %[[FACTOR:.*]] = select i1 %[[KEPT]], float %[[ONE]], float %[[POWER]]
; CHECK-NEXT: %[[OTHER:.*]] = fadd float %after, 1.000000e+00
; CHECK-NEXT: %[[TERM:.*]] = select i1 %[[KEPT]], float %[[POWER]], float %[[OTHER]]
; CHECK-NEXT: %scaled = fmul float %sum, %[[FACTOR]]
; CHECK-NEXT: %result = fadd float %scaled, %[[TERM]]
define float @online(float %most, float %value, float %sum) {
  %now = call float @llvm.maxnum.f32(float %most, float %value)
  %before = fsub float %most, %now
  %factor = call float @__metal_math_exp_precise(float %before)
  %scaled = fmul float %sum, %factor
  %after = fsub float %value, %now
  %term = call float @__metal_math_exp_precise(float %after)
  %result = fadd float %scaled, %term
  ret float %result
}
; Factors and divisors keep 0 and NaN, and so does the other sign.
; CHECK-LABEL: define float @scaled(
; CHECK: call float @__metal_math_exp(
; CHECK-NOT: call float @__metal_math_exp(
; CHECK: ret float
define float @scaled(float %most, float %value, float %scale) {
  %is.larger = fcmp ogt float %value, %most
  %now = select i1 %is.larger, float %value, float %most
  %before = fsub float %most, %now
  %before.scaled = fmul float %scale, %before
  %factor = call float @__metal_math_exp(float %before.scaled, float 1.0)
  %after = fsub float %now, %value
  %after.negated = fneg float %after
  %after.scaled = fdiv float %after.negated, %scale
  %term = call float @__metal_math_exp(float %after.scaled, float 1.0)
  %result = fadd float %factor, %term
  ret float %result
}
; Other bases, and differences from other values, need both.
; CHECK-LABEL: define float @bases(
; CHECK-COUNT-2: call float @__metal_math_exp(
define float @bases(float %most, float %value) {
  %now = call float @llvm.maxnum.f32(float %most, float %value)
  %before = fsub float %most, %now
  %factor = call float @__metal_math_exp(float %before, float 1.0)
  %after = fsub float %value, %now
  %term = call float @__metal_math_exp(float %after, float 2.0)
  %result = fadd float %factor, %term
  ret float %result
}
; CHECK-LABEL: define float @values(
; CHECK-COUNT-2: call float @__metal_math_exp_precise(
define float @values(float %most, float %value, float %other) {
  %now = call float @llvm.maxnum.f32(float %most, float %other)
  %before = fsub float %most, %now
  %factor = call float @__metal_math_exp_precise(float %before)
  %after = fsub float %value, %now
  %term = call float @__metal_math_exp_precise(float %after)
  %result = fadd float %factor, %term
  ret float %result
}
; A branch has an exponential on either side.
; CHECK-LABEL: define float @sides(
; CHECK: %before = fsub float %most, %value
; CHECK-NEXT: %after = fsub float %value, %most
; CHECK-NEXT: %[[EXPONENT:.*]] = select i1 %is.larger, float %before, float %after
; CHECK-NEXT: %[[POWER:.*]] = call float @__metal_math_exp_precise(float %[[EXPONENT]])
; CHECK-NEXT: br i1 %is.larger
; CHECK: %scaled = fmul float %sum, %[[POWER]]
; CHECK: %added = fadd float %sum, %[[POWER]]
define float @sides(float %most, float %value, float %sum) {
  %is.larger = fcmp ogt float %value, %most
  br i1 %is.larger, label %larger, label %smaller
larger:
  %before = fsub float %most, %value
  %factor = call float @__metal_math_exp_precise(float %before)
  %scaled = fmul float %sum, %factor
  br label %end
smaller:
  %after = fsub float %value, %most
  %term = call float @__metal_math_exp_precise(float %after)
  %added = fadd float %sum, %term
  br label %end
end:
  %result = phi float [ %scaled, %larger ], [ %added, %smaller ]
  ret float %result
}
; What only one side may do stays there.
; CHECK-LABEL: define float @loads(
; CHECK: br i1 %is.larger
; CHECK-COUNT-2: call float @__metal_math_exp_precise(
define float @loads(i1 %is.larger, ptr addrspace(1) %x, float %value) {
  br i1 %is.larger, label %larger, label %smaller
larger:
  %element = load float, ptr addrspace(1) %x
  %factor = call float @__metal_math_exp_precise(float %element)
  br label %end
smaller:
  %term = call float @__metal_math_exp_precise(float %value)
  br label %end
end:
  %result = phi float [ %factor, %larger ], [ %term, %smaller ]
  ret float %result
}
declare float @__metal_math_exp_precise(float)
declare float @__metal_math_exp(float, float)
declare float @llvm.maxnum.f32(float, float)
