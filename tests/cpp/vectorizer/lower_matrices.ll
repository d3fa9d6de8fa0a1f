; RUN: lower-matrices 32 x86-64-v4
; Sums stay in memory between products. Two A times two B are computed at once, with the next products for the same
; sums.
declare <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) nocapture, i64, i64) nounwind willreturn memory(argmem: read)
declare void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x float>"(ptr addrspace(1) nocapture, i64, i64, <64 x float>) nounwind willreturn memory(argmem: write)
declare <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)
; CHECK-LABEL: define void @loop
; CHECK: store <64 x float> zeroinitializer, ptr %[[FIRST:sum[0-9]*]], align 64
; CHECK: store <64 x float> zeroinitializer, ptr %[[SECOND:sum[0-9]*]], align 64
; CHECK: loop:
; CHECK-NOT: phi <64 x float>
; CHECK-DAG: %[[A:.*]] = addrspacecast ptr addrspace(3) %a to ptr
; CHECK-DAG: %[[B:.*]] = addrspacecast ptr addrspace(3) %b to ptr
; CHECK-DAG: %[[C:.*]] = addrspacecast ptr addrspace(3) %b1p to ptr
; CHECK: call void @simd.block.product.1x2x2.rows80.rows(ptr %[[A]], ptr %[[B]], ptr %[[C]], ptr %[[A]], ptr %[[B]], ptr %[[C]], ptr %[[FIRST]], ptr %[[SECOND]], i64 %pitch)
; CHECK-NEXT: br i1 %more, label %loop, label %done
; CHECK: done:
; CHECK-NEXT: load <64 x float>, ptr %[[SECOND]], align 64
define void @loop(ptr addrspace(3) %a, ptr addrspace(3) %b, ptr addrspace(1) %out, i64 %pitch, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %c0 = phi <64 x float> [ zeroinitializer, %entry ], [ %e0, %loop ]
  %c1 = phi <64 x float> [ zeroinitializer, %entry ], [ %e1, %loop ]
  %a0 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %a, i64 80, i64 4)
  %b0 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %b, i64 %pitch, i64 4)
  %b1p = getelementptr i8, ptr addrspace(3) %b, i64 32
  %b1 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %b1p, i64 %pitch, i64 4)
  %d0 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b0, <64 x float> %c0)
  %d1 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b1, <64 x float> %c1)
  %e0 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b0, <64 x float> %d0)
  %e1 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b1, <64 x float> %d1)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  call void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x float>"(ptr addrspace(1) %out, i64 32, i64 4, <64 x float> %e1)
  ret void
}
; What lanes hold of the sums, which only another block's phis use, is read behind all products: these are still
; computed as a block.
; CHECK-LABEL: define void @passed_on
; CHECK: call void @simd.block.product.1x2x1.rows80.rows80(
; CHECK-NEXT: load <64 x float>
; CHECK-NOT: @simd.block.product
; CHECK: done:
declare <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float>, i32) nounwind willreturn memory(none)
define void @passed_on(ptr addrspace(3) %a, ptr addrspace(3) %b, ptr addrspace(1) %out, i1 %more) {
entry:
  br i1 %more, label %products, label %done
products:
  %a0 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %a, i64 80, i64 4)
  %b0 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %b, i64 80, i64 4)
  %b1p = getelementptr i8, ptr addrspace(3) %b, i64 32
  %b1 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %b1p, i64 80, i64 4)
  %d0 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b0, <64 x float> zeroinitializer)
  %x0 = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %d0, i32 0)
  %d1 = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %b1, <64 x float> zeroinitializer)
  %x1 = call <32 x float> @"simd.matrix.lanes.<32 x float>.<64 x float>.i32"(<64 x float> %d1, i32 1)
  br label %done
done:
  %p0 = phi <32 x float> [ zeroinitializer, %entry ], [ %x0, %products ]
  %p1 = phi <32 x float> [ zeroinitializer, %entry ], [ %x1, %products ]
  %sum = fadd <32 x float> %p0, %p1
  store <32 x float> %sum, ptr addrspace(1) %out
  ret void
}
; A sum that is still needed is copied first. A factor that was overwritten in between is copied too.
; CHECK-LABEL: define void @kept
; CHECK: store <64 x float> %c, ptr %[[C:factor[0-9]*]], align 64
; CHECK: %[[AT:.*]] = addrspacecast ptr addrspace(3) %a to ptr
; CHECK: store <64 x float> %{{.*}}, ptr %[[A:factor[0-9]*]], align 64
; CHECK: store <64 x float> %c, ptr %[[D:sum[0-9]*]], align 64
; CHECK-NEXT: call void @simd.block.product.1x1x1.columns80.rows32(ptr %[[AT]], ptr %[[C]], ptr %[[D]])
; CHECK-NEXT: store float 0.000000e+00, ptr addrspace(3) %a
; CHECK: store <64 x float> %{{.*}}, ptr %[[E:sum[0-9]*]], align 64
; CHECK: call void @simd.block.product.1x1x1.rows32.rows32(ptr %[[A]], ptr %[[C]], ptr %[[E]])
; CHECK: load <64 x float>, ptr %[[E]], align 64
define void @kept(ptr addrspace(3) %a, ptr addrspace(1) %out, <64 x float> %c) {
  %a0 = call <64 x float> @"simd.matrix.load.<64 x float>.ptr addrspace(3).i64.i64"(ptr addrspace(3) %a, i64 4, i64 80)
  %d = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %c, <64 x float> %c)
  store float 0.0, ptr addrspace(3) %a
  %e = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a0, <64 x float> %c, <64 x float> %d)
  %sum = fadd <64 x float> %d, %e
  call void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x float>"(ptr addrspace(1) %out, i64 32, i64 4, <64 x float> %sum)
  ret void
}
; A sum of the first block stays in memory for the products of later blocks.
; CHECK-LABEL: define void @branches
; CHECK: %[[SUM:sum[0-9]*]] = alloca <64 x float>, align 64
; CHECK-NOT: %sum{{[0-9]*}} = alloca
; CHECK: again:
; CHECK-NEXT: call void @simd.block.product.1x1x1.rows32.rows32(ptr %{{.*}}, ptr %{{.*}}, ptr %[[SUM]])
; CHECK-NEXT: load <64 x float>, ptr %[[SUM]], align 64
define void @branches(ptr addrspace(1) %out, <64 x float> %a, <64 x float> %b, <64 x float> %c, i1 %more) {
entry:
  %d = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a, <64 x float> %b, <64 x float> %c)
  br i1 %more, label %again, label %done
again:
  %e = call <64 x float> @"simd.matrix.multiply.<64 x float>.<64 x float>.<64 x float>.<64 x float>"(<64 x float> %a, <64 x float> %b, <64 x float> %d)
  br label %done
done:
  %sum = phi <64 x float> [ %d, %entry ], [ %e, %again ]
  call void @"simd.matrix.store.void.ptr addrspace(1).i64.i64.<64 x float>"(ptr addrspace(1) %out, i64 32, i64 4, <64 x float> %sum)
  ret void
}
; One row of B is multiplied with as many rows of A as there are sums.
; CHECK-LABEL: define internal void @simd.block.product.1x1x1.columns80.rows32(
; CHECK: load <8 x float>, ptr %1
; CHECK: load float, ptr
; CHECK: getelementptr i8, ptr %0, i64 4
; CHECK: call <8 x float> asm sideeffect "", "=v,0"
; CHECK: getelementptr i8, ptr %1, i64 32
; CHECK: getelementptr i8, ptr %0, i64 80
