; RUN: matrix-layout 32
; Sums that a loop carries stay row by row, and so do operations that treat all their elements alike.
declare <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float>, <32 x float>)
declare <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float>, i32)
declare <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float>, <64 x float>, <64 x float>)
; CHECK-LABEL: define void @loop
; CHECK: %[[FACTOR:.*]] = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %factor, <32 x float> %factor)
; CHECK: loop:
; CHECK: %x.rows = phi <64 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
; CHECK-NEXT: %[[C:.*]] = fmul <64 x float> %x.rows, %[[FACTOR]]
; CHECK-NEXT: %d = call {{.*}}(<64 x float> %a, <64 x float> %b, <64 x float> %[[C]])
; CHECK-NEXT: %nx = call
; CHECK-NEXT: %next = add
define void @loop(<64 x float> %a, <64 x float> %b, ptr %out, i32 %n, <32 x float> %factor) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = phi <32 x float> [ zeroinitializer, %entry ], [ %nx, %loop ]
  %y = phi <32 x float> [ zeroinitializer, %entry ], [ %ny, %loop ]
  %sx = fmul <32 x float> %x, %factor
  %sy = fmul <32 x float> %y, %factor
  %c = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %sx, <32 x float> %sy)
  %d = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a, <64 x float> %b, <64 x float> %c)
  %nx = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %d, i32 0)
  %ny = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %d, i32 1)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  store <32 x float> %nx, ptr %out
  ret void
}
; CHECK-LABEL: define <64 x float> @alike
; CHECK-NEXT: %[[HALF:.*]] = fptrunc <64 x float> %m to <64 x half>
; CHECK-NEXT: %[[BACK:.*]] = fpext <64 x half> %[[HALF]] to <64 x float>
; CHECK-NEXT: ret <64 x float> %[[BACK]]
define <64 x float> @alike(<64 x float> %m) {
  %x = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %m, i32 0)
  %y = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %m, i32 1)
  %hx = fptrunc <32 x float> %x to <32 x half>
  %hy = fptrunc <32 x float> %y to <32 x half>
  %fx = fpext <32 x half> %hx to <32 x float>
  %fy = fpext <32 x half> %hy to <32 x float>
  %rows = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %fx, <32 x float> %fy)
  ret <64 x float> %rows
}
; They do not if the two elements are computed differently, or if no value is a matrix already.
; CHECK-LABEL: define <64 x float> @unlike
; CHECK: %swapped = call <64 x float> @"simd.matrix.rows
; CHECK: %apart = call <64 x float> @"simd.matrix.rows
; CHECK: %lanes = call <64 x float> @"simd.matrix.rows
; CHECK: fadd <64 x float> %swapped, %apart
define <64 x float> @unlike(<64 x float> %m, <32 x float> %a, <32 x float> %b) {
  %x = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %m, i32 0)
  %y = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %m, i32 1)
  %swapped = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %y, <32 x float> %x)
  %sx = fmul <32 x float> %x, %a
  %sy = fadd <32 x float> %y, %a
  %apart = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %sx, <32 x float> %sy)
  %mx = fmul <32 x float> %a, %b
  %my = fmul <32 x float> %b, %b
  %lanes = call <64 x float> @"simd.matrix.rows.<64 x float>.<32 x float>.<32 x float>"(<32 x float> %mx, <32 x float> %my)
  %p = fadd <64 x float> %swapped, %apart
  %q = fadd <64 x float> %p, %lanes
  ret <64 x float> %q
}
