; RUN: split-loops 16 x86-64-v3
; The lanes read eight elements of a row each, and multiply them by the same factors. What is read needs all 16
; registers, so each loop has half of the lanes. It computes the pieces of its own lanes only, and makes half of the
; prefetches.
; CHECK-LABEL: define <16 x float> @rows(
; CHECK: phi <8 x float> [ zeroinitializer, %entry ]
; CHECK-COUNT-8: load <8 x float>, ptr addrspace(1) %low{{[0-9]*}}, align 4
; CHECK-NOT: load <8 x float>
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %low
; CHECK-NOT: call void @llvm.prefetch
; CHECK: br i1 %{{.*}}, label %[[SECOND:.*]], label %{{.*}}
; CHECK: [[SECOND]]:
; CHECK: phi <8 x float> [ zeroinitializer,
; CHECK-COUNT-8: load <8 x float>, ptr addrspace(1) %high{{[0-9]*}}, align 4
; CHECK-NOT: load <8 x float>
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %high
; CHECK: br i1
; CHECK: shufflevector <8 x float> %{{.*}}, <8 x float> %{{.*}}, <16 x i32>
define <16 x float> @rows(ptr addrspace(1) %rows, ptr addrspace(1) %factors, i64 %n) {
entry:
  br label %loop
loop:
  %start = phi <16 x float> [ zeroinitializer, %entry ], [ %sum7, %loop ]
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %row = getelementptr float, ptr addrspace(1) %rows, i64 %i
  %factor = getelementptr float, ptr addrspace(1) %factors, i64 %i
  %low0 = getelementptr i8, ptr addrspace(1) %row, i64 0
  %low.piece0 = load <8 x float>, ptr addrspace(1) %low0, align 4
  %high0 = getelementptr i8, ptr addrspace(1) %row, i64 4096
  %high.piece0 = load <8 x float>, ptr addrspace(1) %high0, align 4
  %low1 = getelementptr i8, ptr addrspace(1) %row, i64 512
  %low.piece1 = load <8 x float>, ptr addrspace(1) %low1, align 4
  %high1 = getelementptr i8, ptr addrspace(1) %row, i64 4608
  %high.piece1 = load <8 x float>, ptr addrspace(1) %high1, align 4
  %low2 = getelementptr i8, ptr addrspace(1) %row, i64 1024
  %low.piece2 = load <8 x float>, ptr addrspace(1) %low2, align 4
  %high2 = getelementptr i8, ptr addrspace(1) %row, i64 5120
  %high.piece2 = load <8 x float>, ptr addrspace(1) %high2, align 4
  %low3 = getelementptr i8, ptr addrspace(1) %row, i64 1536
  %low.piece3 = load <8 x float>, ptr addrspace(1) %low3, align 4
  %high3 = getelementptr i8, ptr addrspace(1) %row, i64 5632
  %high.piece3 = load <8 x float>, ptr addrspace(1) %high3, align 4
  %low4 = getelementptr i8, ptr addrspace(1) %row, i64 2048
  %low.piece4 = load <8 x float>, ptr addrspace(1) %low4, align 4
  %high4 = getelementptr i8, ptr addrspace(1) %row, i64 6144
  %high.piece4 = load <8 x float>, ptr addrspace(1) %high4, align 4
  %low5 = getelementptr i8, ptr addrspace(1) %row, i64 2560
  %low.piece5 = load <8 x float>, ptr addrspace(1) %low5, align 4
  %high5 = getelementptr i8, ptr addrspace(1) %row, i64 6656
  %high.piece5 = load <8 x float>, ptr addrspace(1) %high5, align 4
  %low6 = getelementptr i8, ptr addrspace(1) %row, i64 3072
  %low.piece6 = load <8 x float>, ptr addrspace(1) %low6, align 4
  %high6 = getelementptr i8, ptr addrspace(1) %row, i64 7168
  %high.piece6 = load <8 x float>, ptr addrspace(1) %high6, align 4
  %low7 = getelementptr i8, ptr addrspace(1) %row, i64 3584
  %low.piece7 = load <8 x float>, ptr addrspace(1) %low7, align 4
  %high7 = getelementptr i8, ptr addrspace(1) %row, i64 7680
  %high.piece7 = load <8 x float>, ptr addrspace(1) %high7, align 4
  %column0 = shufflevector <8 x float> %low.piece0, <8 x float> %high.piece0, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place0 = getelementptr i8, ptr addrspace(1) %factor, i64 0
  %one0 = load float, ptr addrspace(1) %place0, align 4
  %insert0 = insertelement <16 x float> poison, float %one0, i64 0
  %all0 = shufflevector <16 x float> %insert0, <16 x float> poison, <16 x i32> zeroinitializer
  %sum0 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all0, <16 x float> %column0, <16 x float> %start)
  %column1 = shufflevector <8 x float> %low.piece1, <8 x float> %high.piece1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place1 = getelementptr i8, ptr addrspace(1) %factor, i64 4
  %one1 = load float, ptr addrspace(1) %place1, align 4
  %insert1 = insertelement <16 x float> poison, float %one1, i64 0
  %all1 = shufflevector <16 x float> %insert1, <16 x float> poison, <16 x i32> zeroinitializer
  %sum1 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all1, <16 x float> %column1, <16 x float> %sum0)
  %column2 = shufflevector <8 x float> %low.piece2, <8 x float> %high.piece2, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place2 = getelementptr i8, ptr addrspace(1) %factor, i64 8
  %one2 = load float, ptr addrspace(1) %place2, align 4
  %insert2 = insertelement <16 x float> poison, float %one2, i64 0
  %all2 = shufflevector <16 x float> %insert2, <16 x float> poison, <16 x i32> zeroinitializer
  %sum2 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all2, <16 x float> %column2, <16 x float> %sum1)
  %column3 = shufflevector <8 x float> %low.piece3, <8 x float> %high.piece3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place3 = getelementptr i8, ptr addrspace(1) %factor, i64 12
  %one3 = load float, ptr addrspace(1) %place3, align 4
  %insert3 = insertelement <16 x float> poison, float %one3, i64 0
  %all3 = shufflevector <16 x float> %insert3, <16 x float> poison, <16 x i32> zeroinitializer
  %sum3 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all3, <16 x float> %column3, <16 x float> %sum2)
  %column4 = shufflevector <8 x float> %low.piece4, <8 x float> %high.piece4, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place4 = getelementptr i8, ptr addrspace(1) %factor, i64 16
  %one4 = load float, ptr addrspace(1) %place4, align 4
  %insert4 = insertelement <16 x float> poison, float %one4, i64 0
  %all4 = shufflevector <16 x float> %insert4, <16 x float> poison, <16 x i32> zeroinitializer
  %sum4 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all4, <16 x float> %column4, <16 x float> %sum3)
  %column5 = shufflevector <8 x float> %low.piece5, <8 x float> %high.piece5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place5 = getelementptr i8, ptr addrspace(1) %factor, i64 20
  %one5 = load float, ptr addrspace(1) %place5, align 4
  %insert5 = insertelement <16 x float> poison, float %one5, i64 0
  %all5 = shufflevector <16 x float> %insert5, <16 x float> poison, <16 x i32> zeroinitializer
  %sum5 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all5, <16 x float> %column5, <16 x float> %sum4)
  %column6 = shufflevector <8 x float> %low.piece6, <8 x float> %high.piece6, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place6 = getelementptr i8, ptr addrspace(1) %factor, i64 24
  %one6 = load float, ptr addrspace(1) %place6, align 4
  %insert6 = insertelement <16 x float> poison, float %one6, i64 0
  %all6 = shufflevector <16 x float> %insert6, <16 x float> poison, <16 x i32> zeroinitializer
  %sum6 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all6, <16 x float> %column6, <16 x float> %sum5)
  %column7 = shufflevector <8 x float> %low.piece7, <8 x float> %high.piece7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %place7 = getelementptr i8, ptr addrspace(1) %factor, i64 28
  %one7 = load float, ptr addrspace(1) %place7, align 4
  %insert7 = insertelement <16 x float> poison, float %one7, i64 0
  %all7 = shufflevector <16 x float> %insert7, <16 x float> poison, <16 x i32> zeroinitializer
  %sum7 = call <16 x float> @llvm.fma.v16f32(<16 x float> %all7, <16 x float> %column7, <16 x float> %sum6)
  call void @llvm.prefetch.p1(ptr addrspace(1) %low0, i32 0, i32 2, i32 1)
  call void @llvm.prefetch.p1(ptr addrspace(1) %high0, i32 0, i32 2, i32 1)
  %next = add i64 %i, 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret <16 x float> %sum7
}
; Sums of the lanes' own elements use these one after the other.
; CHECK-LABEL: define <16 x float> @own_elements(
; CHECK: phi <16 x float>
; CHECK-COUNT-16: load <8 x float>
define <16 x float> @own_elements(ptr addrspace(1) %rows, ptr addrspace(1) %factors, i64 %n) {
entry:
  br label %loop
loop:
  %start = phi <16 x float> [ zeroinitializer, %entry ], [ %sum7, %loop ]
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %row = getelementptr float, ptr addrspace(1) %rows, i64 %i
  %factor = getelementptr float, ptr addrspace(1) %factors, i64 %i
  %low0 = getelementptr i8, ptr addrspace(1) %row, i64 0
  %low.piece0 = load <8 x float>, ptr addrspace(1) %low0, align 4
  %high0 = getelementptr i8, ptr addrspace(1) %row, i64 4096
  %high.piece0 = load <8 x float>, ptr addrspace(1) %high0, align 4
  %low1 = getelementptr i8, ptr addrspace(1) %row, i64 512
  %low.piece1 = load <8 x float>, ptr addrspace(1) %low1, align 4
  %high1 = getelementptr i8, ptr addrspace(1) %row, i64 4608
  %high.piece1 = load <8 x float>, ptr addrspace(1) %high1, align 4
  %low2 = getelementptr i8, ptr addrspace(1) %row, i64 1024
  %low.piece2 = load <8 x float>, ptr addrspace(1) %low2, align 4
  %high2 = getelementptr i8, ptr addrspace(1) %row, i64 5120
  %high.piece2 = load <8 x float>, ptr addrspace(1) %high2, align 4
  %low3 = getelementptr i8, ptr addrspace(1) %row, i64 1536
  %low.piece3 = load <8 x float>, ptr addrspace(1) %low3, align 4
  %high3 = getelementptr i8, ptr addrspace(1) %row, i64 5632
  %high.piece3 = load <8 x float>, ptr addrspace(1) %high3, align 4
  %low4 = getelementptr i8, ptr addrspace(1) %row, i64 2048
  %low.piece4 = load <8 x float>, ptr addrspace(1) %low4, align 4
  %high4 = getelementptr i8, ptr addrspace(1) %row, i64 6144
  %high.piece4 = load <8 x float>, ptr addrspace(1) %high4, align 4
  %low5 = getelementptr i8, ptr addrspace(1) %row, i64 2560
  %low.piece5 = load <8 x float>, ptr addrspace(1) %low5, align 4
  %high5 = getelementptr i8, ptr addrspace(1) %row, i64 6656
  %high.piece5 = load <8 x float>, ptr addrspace(1) %high5, align 4
  %low6 = getelementptr i8, ptr addrspace(1) %row, i64 3072
  %low.piece6 = load <8 x float>, ptr addrspace(1) %low6, align 4
  %high6 = getelementptr i8, ptr addrspace(1) %row, i64 7168
  %high.piece6 = load <8 x float>, ptr addrspace(1) %high6, align 4
  %low7 = getelementptr i8, ptr addrspace(1) %row, i64 3584
  %low.piece7 = load <8 x float>, ptr addrspace(1) %low7, align 4
  %high7 = getelementptr i8, ptr addrspace(1) %row, i64 7680
  %high.piece7 = load <8 x float>, ptr addrspace(1) %high7, align 4
  %column0 = shufflevector <8 x float> %low.piece0, <8 x float> %high.piece0, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum0 = fadd <16 x float> %start, %column0
  %column1 = shufflevector <8 x float> %low.piece1, <8 x float> %high.piece1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum1 = fadd <16 x float> %sum0, %column1
  %column2 = shufflevector <8 x float> %low.piece2, <8 x float> %high.piece2, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum2 = fadd <16 x float> %sum1, %column2
  %column3 = shufflevector <8 x float> %low.piece3, <8 x float> %high.piece3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum3 = fadd <16 x float> %sum2, %column3
  %column4 = shufflevector <8 x float> %low.piece4, <8 x float> %high.piece4, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum4 = fadd <16 x float> %sum3, %column4
  %column5 = shufflevector <8 x float> %low.piece5, <8 x float> %high.piece5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum5 = fadd <16 x float> %sum4, %column5
  %column6 = shufflevector <8 x float> %low.piece6, <8 x float> %high.piece6, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum6 = fadd <16 x float> %sum5, %column6
  %column7 = shufflevector <8 x float> %low.piece7, <8 x float> %high.piece7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %sum7 = fadd <16 x float> %sum6, %column7
  call void @llvm.prefetch.p1(ptr addrspace(1) %low0, i32 0, i32 2, i32 1)
  call void @llvm.prefetch.p1(ptr addrspace(1) %high0, i32 0, i32 2, i32 1)
  %next = add i64 %i, 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret <16 x float> %sum7
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare void @llvm.prefetch.p1(ptr addrspace(1), i32, i32, i32)
