; RUN: resolve-math-mode
; The library's functions get the math mode of the function that calls them, for example safe mode in a program that is
; fast elsewhere.
; CHECK-LABEL: define i1 @fast
; CHECK-NEXT: ret i1 true
define i1 @fast() "no-nans-fp-math"="true" {
  %answer = call i1 @__metal_fast_math()
  ret i1 %answer
}
; CHECK-LABEL: define i1 @safe
; CHECK-NEXT: ret i1 false
define i1 @safe() "no-nans-fp-math"="false" {
  %answer = call i1 @__metal_fast_math()
  ret i1 %answer
}
; CHECK-LABEL: define i1 @unsaid
; CHECK-NEXT: ret i1 false
; Calls of other functions stay.
; CHECK-LABEL: define i32 @other
; CHECK-NEXT: call i32 @__metal_get_grid_size(i32 0)
; CHECK-NOT: @__metal_fast_math
define i1 @unsaid() {
  %answer = call i1 @__metal_fast_math()
  ret i1 %answer
}
define i32 @other() {
  %size = call i32 @__metal_get_grid_size(i32 0)
  ret i32 %size
}
declare i1 @__metal_fast_math()
declare i32 @__metal_get_grid_size(i32)
