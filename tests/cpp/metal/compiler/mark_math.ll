; RUN: mark-math
; The results of functions of the mathematical library pass through a call that names the function and has its
; arguments, so that checks can show them. Calls inside of the library are not the user's, and vectors have no single
; value to show.
; CHECK-LABEL: define float @kernel(
; CHECK-NEXT: %e = call float @_ZN5metal6__math11exp_by_modeEf(float %x)
; CHECK-NEXT: [[E:%.*]] = call float @"__metal_math:exp:2"(float %e, float %x)
; CHECK-NEXT: %p = call float @_ZN5metal6__math5ldexpEfi(float [[E]], i32 %n)
; CHECK-NEXT: [[P:%.*]] = call float @"__metal_math:ldexp:2"(float %p, float [[E]])
; CHECK-NEXT: %v = call <2 x float> @_ZN5metal6__math3sinEDv2_f(<2 x float> %w)
; CHECK-NEXT: %s = extractelement <2 x float> %v, i64 0
; CHECK-NEXT: %sum = fadd float [[P]], %s
; CHECK-NEXT: ret float %sum
; CHECK-LABEL: define float @_ZN5metal6__math11exp_by_modeEf(
; CHECK-NEXT: %r = call float @_ZN5metal6__math8fast_expEf(float %x)
; CHECK-NEXT: ret float %r
define float @kernel(float %x, i32 %n, <2 x float> %w) {
  %e = call float @_ZN5metal6__math11exp_by_modeEf(float %x)
  %p = call float @_ZN5metal6__math5ldexpEfi(float %e, i32 %n)
  %v = call <2 x float> @_ZN5metal6__math3sinEDv2_f(<2 x float> %w)
  %s = extractelement <2 x float> %v, i64 0
  %sum = fadd float %p, %s
  ret float %sum
}
define float @_ZN5metal6__math11exp_by_modeEf(float %x) {
  %r = call float @_ZN5metal6__math8fast_expEf(float %x)
  ret float %r
}
declare float @_ZN5metal6__math8fast_expEf(float)
declare float @_ZN5metal6__math5ldexpEfi(float, i32)
declare <2 x float> @_ZN5metal6__math3sinEDv2_f(<2 x float>)
