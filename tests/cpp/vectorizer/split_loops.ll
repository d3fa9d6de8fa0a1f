; RUN: split-loops 32 x86-64-v3
; The sums would need 32 of 16 registers. Each loop has a quarter of the lanes, so that there is room for the factors.
; Vectors from outside are split before the loops; those that are used after them are concatenated.
; CHECK-LABEL: define <32 x float> @tile
; CHECK: %[[FIRST:.*]] = shufflevector <32 x float> %start, <32 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: %[[LAST:.*]] = shufflevector <32 x float> %start, <32 x float> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
; CHECK: br i1 %some, label %[[LOOP:.*]], label %exit
; CHECK: [[LOOP]]:
; CHECK: phi <8 x float> [ %[[FIRST]], %entry ]
; CHECK: load <8 x float>, ptr addrspace(3) %{{.*}}, align 16
; CHECK: br i1 %{{.*}}, label %[[SECOND:.*]], label %[[LOOP]]
; CHECK: [[SECOND]]:
; CHECK: %[[AT:.*]] = getelementptr i8, ptr addrspace(3) %{{.*}}, i64 32
; CHECK: load <8 x float>, ptr addrspace(3) %[[AT]], align 16
; CHECK: phi <8 x float> [ %[[LAST]],
; CHECK: call <8 x float> @llvm.fma.v8f32
; CHECK: %[[SUM:.*]] = shufflevector <16 x float> %{{.*}}, <16 x float> %{{.*}}, <32 x i32>
; CHECK: exit:
; CHECK: phi <32 x float> [ %start, %entry ], [ %[[SUM]],
define <32 x float> @tile(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %n, <32 x float> %start) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %exit
loop:
  %0 = phi <32 x float> [ %start, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ %start, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ %start, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ %start, %entry ], [ %sum3, %loop ]
  %4 = phi <32 x float> [ %start, %entry ], [ %sum4, %loop ]
  %5 = phi <32 x float> [ %start, %entry ], [ %sum5, %loop ]
  %6 = phi <32 x float> [ %start, %entry ], [ %sum6, %loop ]
  %7 = phi <32 x float> [ %start, %entry ], [ %sum7, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %row = getelementptr <32 x float>, ptr addrspace(3) %a, i32 %i
  %factors = load <32 x float>, ptr addrspace(3) %row, align 16
  %place = getelementptr float, ptr addrspace(3) %b, i32 %i
  %factor = load float, ptr addrspace(3) %place, align 4
  %first = insertelement <32 x float> poison, float %factor, i64 0
  %all = shufflevector <32 x float> %first, <32 x float> poison, <32 x i32> zeroinitializer
  %sum0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %all, <32 x float> %factors, <32 x float> %0)
  %sum1 = fadd <32 x float> %factors, %1
  %sum2 = fadd <32 x float> %factors, %2
  %sum3 = fadd <32 x float> %factors, %3
  %sum4 = fadd <32 x float> %factors, %4
  %sum5 = fadd <32 x float> %factors, %5
  %sum6 = fadd <32 x float> %factors, %6
  %sum7 = fmul <32 x float> %factors, %7
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %exit, label %loop
exit:
  %result0 = phi <32 x float> [ %start, %entry ], [ %sum0, %loop ]
  %result7 = phi <32 x float> [ %start, %entry ], [ %sum7, %loop ]
  %result = fadd <32 x float> %result0, %result7
  ret <32 x float> %result
}
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)

; A shuffle of two vectors selects a whole part if all lanes of the part come from one.
; CHECK-LABEL: define void @halves
; CHECK: %[[X:.*]] = load float, ptr %x
; CHECK: %[[LEFT:.*]] = insertelement <16 x float> poison, float %[[X]], i64 0
; CHECK: %[[LEFTS:.*]] = shufflevector <16 x float> %[[LEFT]], <16 x float> poison, <16 x i32> zeroinitializer
; CHECK: fadd <16 x float> %{{.*}}, %[[LEFTS]]
define void @halves(ptr %x, ptr %y, ptr %to) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %one = load float, ptr %x, align 4
  %left = insertelement <32 x float> poison, float %one, i64 0
  %lefts = shufflevector <32 x float> %left, <32 x float> poison, <32 x i32> zeroinitializer
  %two = load float, ptr %y, align 4
  %right = insertelement <32 x float> poison, float %two, i64 0
  %rights = shufflevector <32 x float> %right, <32 x float> poison, <32 x i32> zeroinitializer
  %both = shufflevector <32 x float> %lefts, <32 x float> %rights, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %sum0 = fadd <32 x float> %0, %both
  %sum1 = fmul <32 x float> %1, %both
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %3, %sum2
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum3, ptr %to, align 4
  ret void
}

; If a part has lanes of both vectors, its shuffle takes these lanes of their parts.
; CHECK-LABEL: define void @thirds
; CHECK: %[[BOTH:.*]] = shufflevector <16 x float> %{{.*}}, <16 x float> %{{.*}}, <16 x i32> <i32 0, i32 17, i32 2, i32 3, i32 20, i32 5, i32 6, i32 23, i32 8, i32 9, i32 26, i32 11, i32 12, i32 29, i32 14, i32 15>
; CHECK-NEXT: fadd <16 x float> %{{.*}}, %[[BOTH]]
; CHECK: shufflevector <16 x float> %{{.*}}, <16 x float> %{{.*}}, <16 x i32> <i32 16, i32 1, i32 2, i32 19, i32 4, i32 5, i32 22, i32 7, i32 8, i32 25, i32 10, i32 11, i32 28, i32 13, i32 14, i32 31>
define void @thirds(ptr %x, ptr %y, ptr %to) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %one = load float, ptr %x, align 4
  %left = insertelement <32 x float> poison, float %one, i64 0
  %lefts = shufflevector <32 x float> %left, <32 x float> poison, <32 x i32> zeroinitializer
  %two = load float, ptr %y, align 4
  %right = insertelement <32 x float> poison, float %two, i64 0
  %rights = shufflevector <32 x float> %right, <32 x float> poison, <32 x i32> zeroinitializer
  %both = shufflevector <32 x float> %lefts, <32 x float> %rights, <32 x i32> <i32 0, i32 33, i32 2, i32 3, i32 36, i32 5, i32 6, i32 39, i32 8, i32 9, i32 42, i32 11, i32 12, i32 45, i32 14, i32 15, i32 48, i32 17, i32 18, i32 51, i32 20, i32 21, i32 54, i32 23, i32 24, i32 57, i32 26, i32 27, i32 60, i32 29, i32 30, i32 63>
  %sum0 = fadd <32 x float> %0, %both
  %sum1 = fmul <32 x float> %1, %both
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %3, %sum2
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum3, ptr %to, align 4
  ret void
}
