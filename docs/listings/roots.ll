; ---- simplified body of one thread
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) #2 {
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
  store float %12, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- prepared: as before

; ---- private memory laid out: as before

; ---- linearized
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) #2 {
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
  %9 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %9, 0.000000e+00
  %10 = select i1 %active, i1 %cmp.i, i1 false
  %11 = xor i1 %cmp.i, true
  %12 = select i1 %active, i1 %11, i1 false
  %13 = or i1 false, %12
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %14 = call i1 @simd.any(i1 %13)
  br i1 %14, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %13)
  %15 = getelementptr inbounds i8, ptr %0, i64 8
  %16 = load ptr, ptr %15, align 8, !invariant.load !2
  %out = addrspacecast ptr %16 to ptr addrspace(1)
  %17 = call float @llvm.sqrt.f32(float %9)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %17, ptr addrspace(1) %arrayidx4.i, align 4
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
  %12 = load <16 x float>, ptr addrspace(1) %11, align 4
  %13 = fcmp ult <16 x float> %12, zeroinitializer
  %14 = xor <16 x i1> %13, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %15 = select i1 true, <16 x i1> %14, <16 x i1> zeroinitializer
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %16 = bitcast <16 x i1> %15 to i16
  %17 = icmp ne i16 %16, 0
  br i1 %17, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  %18 = getelementptr i8, ptr %0, i64 8
  %19 = load ptr, ptr %18, align 8
  %20 = addrspacecast ptr %19 to ptr addrspace(1)
  %21 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %12)
  %22 = getelementptr float, ptr addrspace(1) %20, i64 %10
  %23 = bitcast <16 x i1> %15 to i16
  %24 = icmp eq i16 %23, -1
  br i1 %24, label %either.yes, label %either.no, !prof !3

either.yes:                                       ; preds = %if.then.i
  store <16 x float> %21, ptr addrspace(1) %22, align 4
  br label %either.end

either.no:                                        ; preds = %if.then.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %21, ptr addrspace(1) %22, i32 4, <16 x i1> %15)
  br label %either.end

either.end:                                       ; preds = %either.no, %either.yes
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
  %z = phi i32 [ %23, %y.done ], [ 0, %z.loop.preheader ]
  br i1 %8, label %y.done, label %y.loop.preheader

y.loop.preheader:                                 ; preds = %z.loop
  %11 = mul i32 %z, %3
  br label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %y.loop.preheader, %rest.done
  %y = phi i32 [ %41, %rest.done ], [ 0, %y.loop.preheader ]
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
  br label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %23 = add nuw i32 %z, 1
  %24 = icmp ult i32 %23, %5
  br i1 %24, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop.preheader, %kernel.body.wide.exit
  %x = phi i32 [ %36, %kernel.body.wide.exit ], [ 0, %x.loop.preheader ]
  call void @llvm.experimental.noalias.scope.decl(metadata !3)
  %25 = add i32 %21, %x
  %26 = zext i32 %25 to i64
  %27 = getelementptr float, ptr addrspace(1) %16, i64 %26
  %28 = load <16 x float>, ptr addrspace(1) %27, align 4, !noalias !3
  %29 = fcmp oge <16 x float> %28, zeroinitializer
  %30 = bitcast <16 x i1> %29 to i16
  %.not = icmp eq i16 %30, 0
  br i1 %.not, label %kernel.body.wide.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %x.loop
  %31 = load ptr, ptr %22, align 8, !noalias !3
  %32 = addrspacecast ptr %31 to ptr addrspace(1)
  %33 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %28)
  %34 = getelementptr float, ptr addrspace(1) %32, i64 %26
  %35 = icmp eq i16 %30, -1
  br i1 %35, label %either.yes.i, label %either.no.i, !prof !6

either.yes.i:                                     ; preds = %if.then.i.i
  store <16 x float> %33, ptr addrspace(1) %34, align 4, !noalias !3
  br label %kernel.body.wide.exit

either.no.i:                                      ; preds = %if.then.i.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %33, ptr addrspace(1) %34, i32 4, <16 x i1> %29), !noalias !3
  br label %kernel.body.wide.exit

kernel.body.wide.exit:                            ; preds = %either.yes.i, %either.no.i, %x.loop
  %36 = add nuw i32 %x, 16
  %37 = icmp ult i32 %36, %6
  br i1 %37, label %x.loop, label %x.done

x.done:                                           ; preds = %kernel.body.wide.exit, %y.loop
  br i1 %.not1.not, label %rest.done, label %rest.loop

rest.loop:                                        ; preds = %x.done, %rest.loop
  %rest = phi i32 [ %39, %rest.loop ], [ %6, %x.done ]
  %38 = add nuw i32 %13, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %38, i32 0, i1 true)
  %39 = add nuw i32 %rest, 1
  %40 = icmp ult i32 %39, %1
  br i1 %40, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %41 = add nuw i32 %y, 1
  %42 = icmp ult i32 %41, %3
  br i1 %42, label %y.loop, label %y.done
}
