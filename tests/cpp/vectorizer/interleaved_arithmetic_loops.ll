; RUN: interleaved-arithmetic
; Sums that a loop carries are kept in the order of memory, so that iterations take no block apart. The phis' operands
; may be in different orders.
; CHECK-LABEL: define void @sums
; CHECK: loop:
; CHECK: %[[LOW:.*]] = phi <4 x float> [ zeroinitializer, %entry ], [ %[[NEXT_LOW:.*]], %loop ]
; CHECK: %[[HIGH:.*]] = phi <4 x float> [ zeroinitializer, %entry ], [ %[[NEXT_HIGH:.*]], %loop ]
; CHECK: %[[FIRST:.*]] = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
; CHECK: %[[LOW_PRODUCT:.*]] = fmul <4 x float> %[[FIRST]], %factors
; CHECK: %[[SECOND:.*]] = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
; CHECK: %[[HIGH_PRODUCT:.*]] = fmul <4 x float> %[[SECOND]], %factors
; CHECK: %[[NEXT_LOW]] = fadd <4 x float> %[[LOW]], %[[LOW_PRODUCT]]
; CHECK: %[[NEXT_HIGH]] = fadd <4 x float> %[[HIGH]], %[[HIGH_PRODUCT]]
; CHECK: %[[RESULT:.*]] = shufflevector <4 x float> %[[NEXT_LOW]], <4 x float> %[[NEXT_HIGH]], <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: end:
; CHECK: store <8 x float> %[[RESULT]], ptr %out
define void @sums(ptr %in, ptr %out, float %factor) {
entry:
  %one = insertelement <4 x float> poison, float %factor, i64 0
  %factors = shufflevector <4 x float> %one, <4 x float> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi <4 x float> [ zeroinitializer, %entry ], [ %xs, %loop ]
  %y = phi <4 x float> [ %ys, %loop ], [ zeroinitializer, %entry ]
  %at = getelementptr <8 x float>, ptr %in, i64 %i
  %block = load <8 x float>, ptr %at
  %a = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %b = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %ax = fmul <4 x float> %a, %factors
  %by = fmul <4 x float> %b, %factors
  %xs = fadd <4 x float> %x, %ax
  %ys = fadd <4 x float> %y, %by
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 10
  br i1 %more, label %loop, label %end
end:
  %both = shufflevector <4 x float> %xs, <4 x float> %ys, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; A factor for each lane would have to be repeated in every iteration, so nothing changes.
; CHECK-LABEL: define void @lanes
; CHECK: end:
; CHECK-NEXT: %both = shufflevector <4 x float> %xs, <4 x float> %ys
define void @lanes(ptr %in, ptr %out, <4 x float> %factors) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi <4 x float> [ zeroinitializer, %entry ], [ %xs, %loop ]
  %y = phi <4 x float> [ zeroinitializer, %entry ], [ %ys, %loop ]
  %at = getelementptr <8 x float>, ptr %in, i64 %i
  %block = load <8 x float>, ptr %at
  %a = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %b = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %ax = fmul <4 x float> %a, %factors
  %by = fmul <4 x float> %b, %factors
  %xs = fadd <4 x float> %x, %ax
  %ys = fadd <4 x float> %y, %by
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 10
  br i1 %more, label %loop, label %end
end:
  %both = shufflevector <4 x float> %xs, <4 x float> %ys, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; Neither does it if an iteration needs a sum by itself.
; CHECK-LABEL: define void @needed
; CHECK: end:
; CHECK-NEXT: %both = shufflevector <4 x float> %xs, <4 x float> %ys
define void @needed(ptr %in, ptr %out, ptr %sums) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi <4 x float> [ zeroinitializer, %entry ], [ %xs, %loop ]
  %y = phi <4 x float> [ zeroinitializer, %entry ], [ %ys, %loop ]
  store <4 x float> %x, ptr %sums
  %at = getelementptr <8 x float>, ptr %in, i64 %i
  %block = load <8 x float>, ptr %at
  %a = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %b = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %xs = fadd <4 x float> %x, %a
  %ys = fadd <4 x float> %y, %b
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 10
  br i1 %more, label %loop, label %end
end:
  %both = shufflevector <4 x float> %xs, <4 x float> %ys, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
}
; What is computed in another block is computed there, and its other users take it from there.
; CHECK-LABEL: define void @branch
; CHECK: %x2 = fmul <4 x float> %{{.*}}, <float 2.0
; CHECK: %[[RESULT:.*]] = shufflevector <4 x float>
; CHECK: %[[X:.*]] = shufflevector <8 x float> %[[RESULT]], <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
; CHECK: br i1 %all
; CHECK: together:
; CHECK: store <8 x float> %[[RESULT]], ptr %out
; CHECK: some:
; CHECK: store <4 x float> %[[X]], ptr %out
define void @branch(ptr %in, ptr %out, i1 %all) {
  %block = load <8 x float>, ptr %in
  %x = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y = shufflevector <8 x float> %block, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %x2 = fmul <4 x float> %x, <float 2.0, float 2.0, float 2.0, float 2.0>
  %y2 = fmul <4 x float> %y, <float 2.0, float 2.0, float 2.0, float 2.0>
  br i1 %all, label %together, label %some
together:
  %both = shufflevector <4 x float> %x2, <4 x float> %y2, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %both, ptr %out
  ret void
some:
  store <4 x float> %x2, ptr %out
  ret void
}
