; ---- simplified body of one thread
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 range(i32 0, 2048) %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 384
  %3 = load i32, ptr %2, align 4, !invariant.load !2
  %4 = and i32 %3, -64
  %5 = getelementptr inbounds i8, ptr %group, i64 16
  %6 = load i32, ptr %5, align 4, !invariant.load !2
  %7 = mul nuw i32 %6, %4
  %8 = add nuw i32 %7, %x
  %idxprom.i = zext i32 %8 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %9 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %9, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %10 = getelementptr inbounds i8, ptr %0, i64 8
  %11 = load ptr, ptr %10, align 8, !invariant.load !2
  %out = addrspacecast ptr %11 to ptr addrspace(1)
  %12 = call float @llvm.sqrt.f32(float %9)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %12, ptr addrspace(1) %arrayidx4.i, align 4, !simd.streamed !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- asks ahead
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 range(i32 0, 2048) %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 384
  %3 = load i32, ptr %2, align 4, !invariant.load !2
  %4 = and i32 %3, -64
  %5 = getelementptr inbounds i8, ptr %group, i64 16
  %6 = load i32, ptr %5, align 4, !invariant.load !2
  %7 = mul nuw i32 %6, %4
  %8 = add nuw i32 %7, %x
  %idxprom.i = zext i32 %8 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %9 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 4096
  call void @llvm.prefetch.p1(ptr addrspace(1) %9, i32 0, i32 3, i32 1)
  %10 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %10, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %11 = getelementptr inbounds i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8, !invariant.load !2
  %out = addrspacecast ptr %12 to ptr addrspace(1)
  %13 = call float @llvm.sqrt.f32(float %10)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %13, ptr addrspace(1) %arrayidx4.i, align 4, !simd.streamed !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- prepared: as before

; ---- private memory laid out: as before

; ---- linearized
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 range(i32 0, 2048) %index, i32 %lane, i1 %active) #2 {
entry:
  call void @simd.mask(i1 %active)
  %0 = load ptr, ptr %group, align 8, !invariant.load !2
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 384
  %3 = load i32, ptr %2, align 4, !invariant.load !2
  %4 = and i32 %3, -64
  %5 = getelementptr inbounds i8, ptr %group, i64 16
  %6 = load i32, ptr %5, align 4, !invariant.load !2
  %7 = mul nuw i32 %6, %4
  %8 = add nuw i32 %7, %x
  %idxprom.i = zext i32 %8 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %9 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 4096
  call void @llvm.prefetch.p1(ptr addrspace(1) %9, i32 0, i32 3, i32 1)
  %10 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %10, 0.000000e+00
  %11 = select i1 %active, i1 %cmp.i, i1 false
  %12 = xor i1 %cmp.i, true
  %13 = select i1 %active, i1 %12, i1 false
  %14 = or i1 false, %13
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %15 = call i1 @simd.any(i1 %14)
  br i1 %15, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %14)
  %16 = getelementptr inbounds i8, ptr %0, i64 8
  %17 = load ptr, ptr %16, align 8, !invariant.load !2
  %out = addrspacecast ptr %17 to ptr addrspace(1)
  %18 = call float @llvm.sqrt.f32(float %10)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %18, ptr addrspace(1) %arrayidx4.i, align 4, !simd.streamed !2
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %if.then.i.guard, %if.then.i
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- widened
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body.wide(ptr noalias %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %2 = addrspacecast ptr %1 to ptr addrspace(1)
  %3 = getelementptr inbounds i8, ptr %0, i64 384
  %4 = load i32, ptr %3, align 4, !invariant.load !2
  %5 = and i32 %4, -64
  %6 = getelementptr inbounds i8, ptr %group, i64 16
  %7 = load i32, ptr %6, align 4, !invariant.load !2
  %8 = mul nuw i32 %7, %5
  %9 = add i32 %8, %x
  %10 = zext i32 %9 to i64
  %11 = getelementptr float, ptr addrspace(1) %2, i64 %10
  %12 = getelementptr i8, ptr addrspace(1) %11, i64 4096
  %13 = getelementptr i8, ptr addrspace(1) %12, i64 0
  call void @llvm.prefetch.p1(ptr addrspace(1) %13, i32 0, i32 3, i32 1)
  %14 = load <16 x float>, ptr addrspace(1) %11, align 4
  %15 = fcmp ult <16 x float> %14, zeroinitializer
  %16 = xor <16 x i1> %15, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %17 = select i1 true, <16 x i1> %16, <16 x i1> zeroinitializer
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %18 = bitcast <16 x i1> %17 to i16
  %19 = icmp ne i16 %18, 0
  br i1 %19, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  %20 = getelementptr i8, ptr %0, i64 8
  %21 = load ptr, ptr %20, align 8
  %22 = addrspacecast ptr %21 to ptr addrspace(1)
  %23 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %14)
  %24 = getelementptr float, ptr addrspace(1) %22, i64 %10
  %25 = bitcast <16 x i1> %17 to i16
  %26 = icmp eq i16 %25, -1
  br i1 %26, label %either.yes, label %either.no, !prof !3

either.yes:                                       ; preds = %if.then.i
  %27 = ptrtoint ptr addrspace(1) %24 to i64
  %28 = and i64 %27, 63
  %29 = getelementptr inbounds i8, ptr %group, i64 0
  %30 = load ptr, ptr %29, align 8, !invariant.load !2
  %31 = getelementptr inbounds i8, ptr %30, i64 424
  %32 = load i64, ptr %31, align 8, !invariant.load !2
  %33 = or i64 %28, %32
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %either.yes2, label %either.no3, !prof !3

either.yes2:                                      ; preds = %either.yes
  store <16 x float> %23, ptr addrspace(1) %24, align 64, !nontemporal !4
  br label %either.end1

either.no3:                                       ; preds = %either.yes
  store <16 x float> %23, ptr addrspace(1) %24, align 4
  br label %either.end1

either.end1:                                      ; preds = %either.no3, %either.yes2
  br label %either.end

either.no:                                        ; preds = %if.then.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %23, ptr addrspace(1) %24, i32 4, <16 x i1> %17)
  br label %either.end

either.end:                                       ; preds = %either.no, %either.end1
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %either.end, %if.then.i.guard
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- optimized
; Function Attrs: convergent nounwind null_pointer_is_valid
define void @kernel_entry(ptr %group, i32 %unit) #1 {
entry:
  %0 = getelementptr inbounds i8, ptr %group, i64 28
  %1 = load i32, ptr %0, align 4, !invariant.load !2
  %2 = getelementptr inbounds i8, ptr %group, i64 32
  %3 = load i32, ptr %2, align 4, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %group, i64 36
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %1, -16
  %7 = icmp eq i32 %5, 0
  br i1 %7, label %z.done, label %z.loop.preheader

z.loop.preheader:                                 ; preds = %entry
  %8 = icmp eq i32 %3, 0
  %9 = icmp eq i32 %6, 0
  %10 = getelementptr inbounds i8, ptr %group, i64 16
  %.not1.not = icmp eq i32 %6, %1
  br label %z.loop

z.loop:                                           ; preds = %z.loop.preheader, %y.done
  %z = phi i32 [ %24, %y.done ], [ 0, %z.loop.preheader ]
  br i1 %8, label %y.done, label %y.loop.preheader

y.loop.preheader:                                 ; preds = %z.loop
  %11 = mul i32 %z, %3
  br label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %y.loop.preheader, %rest.done
  %y = phi i32 [ %48, %rest.done ], [ 0, %y.loop.preheader ]
  %12 = add i32 %11, %y
  %13 = mul i32 %12, %1
  br i1 %9, label %x.done, label %x.loop.preheader

x.loop.preheader:                                 ; preds = %y.loop
  %14 = load ptr, ptr %group, align 8, !invariant.load !2, !alias.scope !3
  %15 = load ptr, ptr %14, align 8, !invariant.load !2, !noalias !3
  %16 = addrspacecast ptr %15 to ptr addrspace(1)
  %17 = getelementptr inbounds i8, ptr %14, i64 384
  %18 = load i32, ptr %17, align 4, !invariant.load !2, !noalias !3
  %19 = and i32 %18, -64
  %20 = load i32, ptr %10, align 4, !invariant.load !2, !alias.scope !3
  %21 = mul nuw i32 %20, %19
  %22 = getelementptr i8, ptr %14, i64 8
  %23 = getelementptr inbounds i8, ptr %14, i64 424
  br label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %24 = add nuw i32 %z, 1
  %25 = icmp ult i32 %24, %5
  br i1 %25, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop.preheader, %kernel.body.wide.exit
  %x = phi i32 [ %43, %kernel.body.wide.exit ], [ 0, %x.loop.preheader ]
  call void @llvm.experimental.noalias.scope.decl(metadata !3)
  %26 = add i32 %21, %x
  %27 = zext i32 %26 to i64
  %28 = getelementptr float, ptr addrspace(1) %16, i64 %27
  %29 = getelementptr i8, ptr addrspace(1) %28, i64 4096
  call void @llvm.prefetch.p1(ptr addrspace(1) %29, i32 0, i32 3, i32 1), !noalias !3
  %30 = load <16 x float>, ptr addrspace(1) %28, align 4, !noalias !3
  %31 = fcmp oge <16 x float> %30, zeroinitializer
  %32 = bitcast <16 x i1> %31 to i16
  %.not = icmp eq i16 %32, 0
  br i1 %.not, label %kernel.body.wide.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %x.loop
  %33 = load ptr, ptr %22, align 8, !noalias !3
  %34 = addrspacecast ptr %33 to ptr addrspace(1)
  %35 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %30)
  %36 = getelementptr float, ptr addrspace(1) %34, i64 %27
  %37 = icmp eq i16 %32, -1
  br i1 %37, label %either.yes.i, label %either.no.i, !prof !6

either.yes.i:                                     ; preds = %if.then.i.i
  %38 = ptrtoint ptr addrspace(1) %36 to i64
  %39 = and i64 %38, 63
  %40 = load i64, ptr %23, align 8, !invariant.load !2, !noalias !3
  %41 = or i64 %39, %40
  %42 = icmp eq i64 %41, 0
  br i1 %42, label %either.yes2.i, label %either.no3.i, !prof !6

either.yes2.i:                                    ; preds = %either.yes.i
  store <16 x float> %35, ptr addrspace(1) %36, align 64, !noalias !3, !nontemporal !7
  br label %kernel.body.wide.exit

either.no3.i:                                     ; preds = %either.yes.i
  store <16 x float> %35, ptr addrspace(1) %36, align 4, !noalias !3
  br label %kernel.body.wide.exit

either.no.i:                                      ; preds = %if.then.i.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %35, ptr addrspace(1) %36, i32 4, <16 x i1> %31), !noalias !3
  br label %kernel.body.wide.exit

kernel.body.wide.exit:                            ; preds = %either.no.i, %either.no3.i, %either.yes2.i, %x.loop
  %43 = add nuw i32 %x, 16
  %44 = icmp ult i32 %43, %6
  br i1 %44, label %x.loop, label %x.done

x.done:                                           ; preds = %kernel.body.wide.exit, %y.loop
  br i1 %.not1.not, label %rest.done, label %rest.loop

rest.loop:                                        ; preds = %x.done, %rest.loop
  %rest = phi i32 [ %46, %rest.loop ], [ %6, %x.done ]
  %45 = add nuw i32 %13, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %45, i32 0, i1 true)
  %46 = add nuw i32 %rest, 1
  %47 = icmp ult i32 %46, %1
  br i1 %47, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %48 = add nuw i32 %y, 1
  %49 = icmp ult i32 %48, %3
  br i1 %49, label %y.loop, label %y.done
}
