; RUN: interleaved-arithmetic
; Two parts that go through the same operations are computed as they are in memory, in as many pieces.
; CHECK-LABEL: define void @alike
; CHECK: %block = load <8 x float>, ptr %in
; CHECK: %[[FIRST:.*]] = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
; CHECK: %[[DOUBLED:.*]] = fmul <4 x float> %[[FIRST]], <float 2.000000e+00, float 3.000000e+00, float 2.000000e+00, float 3.000000e+00>
; Values of lanes, which both parts share, are repeated.
; CHECK: %[[LANES:.*]] = shufflevector <4 x float> %scale, <4 x float> poison, <4 x i32> <i32 0, i32 0, i32 1, i32 1>
; CHECK: %[[LOW:.*]] = fadd <4 x float> %[[DOUBLED]], %[[LANES]]
; CHECK: shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
; CHECK: shufflevector <4 x float> %scale, <4 x float> poison, <4 x i32> <i32 2, i32 2, i32 3, i32 3>
; CHECK: %[[HIGH:.*]] = fadd <4 x float>
; CHECK: %[[RESULT:.*]] = shufflevector <4 x float> %[[LOW]], <4 x float> %[[HIGH]], <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: store <8 x float> %[[RESULT]], ptr %out
define void @alike(ptr %in, ptr %out, <4 x float> %scale) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x2 = fmul <4 x float> %x, <float 2.0, float 2.0, float 2.0, float 2.0>
  %y3 = fmul <4 x float> %y, <float 3.0, float 3.0, float 3.0, float 3.0>
  %xs = fadd <4 x float> %x2, %scale
  %ys = fadd <4 x float> %y3, %scale
  %both = shufflevector <4 x float> %xs, <4 x float> %ys, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; Other operations, exchanged parts and operations that something else needs stay.
; CHECK-LABEL: define void @other
; CHECK: %y2 = fadd <4 x float> %y, %y
define void @other(ptr %in, ptr %out) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x2 = fmul <4 x float> %x, %x
  %y2 = fadd <4 x float> %y, %y
  %both = shufflevector <4 x float> %x2, <4 x float> %y2, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; CHECK-LABEL: define void @exchanged
; CHECK: %both = shufflevector <4 x float> %y2, <4 x float> %x2
define void @exchanged(ptr %in, ptr %out) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x2 = fmul <4 x float> %x, %x
  %y2 = fmul <4 x float> %y, %y
  %both = shufflevector <4 x float> %y2, <4 x float> %x2, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; CHECK-LABEL: define void @needed
; CHECK: %both = shufflevector <4 x float> %x2, <4 x float> %y2
define void @needed(ptr %in, ptr %out, ptr %squares) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x1 = fmul <4 x float> %x, %x
  %y1 = fmul <4 x float> %y, %y
  store <4 x float> %x1, ptr %squares
  %x2 = fadd <4 x float> %x1, %x
  %y2 = fadd <4 x float> %y1, %y
  %both = shufflevector <4 x float> %x2, <4 x float> %y2, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; Results that are also needed by themselves, in lanes that a mask chooses, are taken out of the new ones.
; CHECK-LABEL: define void @masked
; CHECK: %[[RESULT:.*]] = shufflevector <4 x float> %{{.*}}, <4 x float> %{{.*}}, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: %[[X:.*]] = shufflevector <8 x float> %[[RESULT]], <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
; CHECK: some:
; CHECK: store <4 x float> %[[X]], ptr %out
define void @masked(ptr %in, ptr %out, i1 %all) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x2 = fmul <4 x float> %x, %x
  %y2 = fmul <4 x float> %y, %y
  %both = shufflevector <4 x float> %x2, <4 x float> %y2, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  br i1 %all, label %together, label %some
together:
  store <8 x float> %both, ptr %out
  ret void
some:
  store <4 x float> %x2, ptr %out
  ret void
}
