; ---- separate-memory
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = getelementptr inbounds i8, ptr %group, i64 0
  %1 = load ptr, ptr %0, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %2 = getelementptr inbounds i8, ptr %1, i64 0
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %3 to ptr addrspace(1)
  %4 = getelementptr inbounds i8, ptr %group, i64 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %6 = getelementptr inbounds i8, ptr %5, i64 8
  %7 = load ptr, ptr %6, align 8, !invariant.load !2
  %out = addrspacecast ptr %7 to ptr addrspace(1)
  %8 = getelementptr inbounds i8, ptr %group, i64 0
  %9 = load ptr, ptr %8, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %10 = getelementptr inbounds i8, ptr %9, i64 384
  %11 = load i32, ptr %10, align 4, !invariant.load !2
  %12 = and i32 %11, -64
  %13 = getelementptr inbounds i8, ptr %group, i64 16
  %14 = load i32, ptr %13, align 4, !invariant.load !2
  %15 = mul nuw i32 %14, %12
  %16 = add nuw i32 %15, %x
  %idxprom.i = zext i32 %16 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %17 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %17, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %18 = call float @llvm.sqrt.f32(float %17)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %18, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- simplify
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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

; ---- unguarded-forms: as before

; ---- peel-index-loops: as before

; ---- nontemporal-stores
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  store float %12, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- defer-additions: as before

; ---- prefetch-ahead
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  %9 = getelementptr inbounds i8, ptr %group, i64 0
  %10 = load ptr, ptr %9, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %11 = getelementptr inbounds i8, ptr %10, i64 432
  %12 = load i64, ptr %11, align 8, !invariant.load !2
  %13 = mul i64 %12, 4
  %14 = icmp eq i64 %12, 0
  %15 = select i1 %14, i64 4096, i64 %13
  %16 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %15
  call void @llvm.prefetch.p1(ptr addrspace(1) %16, i32 0, i32 3, i32 1), !simd.stream !2
  %17 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %17, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %18 = getelementptr inbounds i8, ptr %0, i64 8
  %19 = load ptr, ptr %18, align 8, !invariant.load !2
  %out = addrspacecast ptr %19 to ptr addrspace(1)
  %20 = call float @llvm.sqrt.f32(float %17)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %20, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- prepare
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  %9 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %10 = getelementptr inbounds i8, ptr %9, i64 432
  %11 = load i64, ptr %10, align 8, !invariant.load !2
  %12 = mul i64 %11, 4
  %13 = icmp eq i64 %11, 0
  %14 = select i1 %13, i64 4096, i64 %12
  %15 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %14
  call void @llvm.prefetch.p1(ptr addrspace(1) %15, i32 0, i32 3, i32 1), !simd.stream !2
  %16 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %16, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %17 = getelementptr inbounds i8, ptr %0, i64 8
  %18 = load ptr, ptr %17, align 8, !invariant.load !2
  %out = addrspacecast ptr %18 to ptr addrspace(1)
  %19 = call float @llvm.sqrt.f32(float %16)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %19, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- nontemporal-parts: as before

; ---- private-memory: as before

; ---- collisions: as before

; ---- linearize
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  call void @simd.mask(i1 %active)
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  %9 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %10 = getelementptr inbounds i8, ptr %9, i64 432
  %11 = load i64, ptr %10, align 8, !invariant.load !2
  %12 = mul i64 %11, 4
  %13 = icmp eq i64 %11, 0
  %14 = select i1 %13, i64 4096, i64 %12
  %15 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %14
  call void @llvm.prefetch.p1(ptr addrspace(1) %15, i32 0, i32 3, i32 1), !simd.stream !2
  %16 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %16, 0.000000e+00
  %17 = select i1 %active, i1 %cmp.i, i1 false
  %18 = xor i1 %cmp.i, true
  %19 = select i1 %active, i1 %18, i1 false
  %20 = or i1 false, %19
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %21 = call i1 @simd.any(i1 %20)
  br i1 %21, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %20)
  %22 = getelementptr i8, ptr %0, i64 8
  %23 = load ptr, ptr %22, align 8, !invariant.load !2
  %out = addrspacecast ptr %23 to ptr addrspace(1)
  %24 = call float @llvm.sqrt.f32(float %16)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %24, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %if.then.i.guard, %if.then.i
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- tidy
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 2048) %x, i32 range(i32 0, 2048) %y, i32 range(i32 0, 2048) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  call void @simd.mask(i1 %active)
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  %9 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %10 = getelementptr inbounds i8, ptr %9, i64 432
  %11 = load i64, ptr %10, align 8, !invariant.load !2
  %12 = mul i64 %11, 4
  %13 = icmp eq i64 %11, 0
  %14 = select i1 %13, i64 4096, i64 %12
  %15 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %14
  call void @llvm.prefetch.p1(ptr addrspace(1) %15, i32 0, i32 3, i32 1), !simd.stream !2
  %16 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %16, 0.000000e+00
  %17 = xor i1 %cmp.i, true
  %18 = select i1 %active, i1 %17, i1 false
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %19 = call i1 @simd.any(i1 %18)
  br i1 %19, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %18)
  %20 = getelementptr i8, ptr %0, i64 8
  %21 = load ptr, ptr %20, align 8, !invariant.load !2
  %out = addrspacecast ptr %21 to ptr addrspace(1)
  %22 = call float @llvm.sqrt.f32(float %16)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %22, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %if.then.i.guard, %if.then.i
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- divided-matrices: as before

; ---- widen
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body.wide(ptr noalias align 8 dereferenceable(80) %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
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
  %12 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %13 = getelementptr inbounds i8, ptr %12, i64 432
  %14 = load i64, ptr %13, align 8, !invariant.load !2
  %15 = mul i64 %14, 4
  %16 = icmp eq i64 %14, 0
  %17 = select i1 %16, i64 4096, i64 %15
  %18 = getelementptr i8, ptr addrspace(1) %11, i64 %17
  %19 = getelementptr i8, ptr addrspace(1) %18, i64 0
  call void @llvm.prefetch.p1(ptr addrspace(1) %19, i32 0, i32 3, i32 1), !simd.stream !2
  %20 = load <16 x float>, ptr addrspace(1) %11, align 4
  %21 = fcmp ult <16 x float> %20, zeroinitializer
  %22 = xor <16 x i1> %21, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %23 = select i1 true, <16 x i1> %22, <16 x i1> zeroinitializer
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %24 = bitcast <16 x i1> %23 to i16
  %25 = icmp ne i16 %24, 0
  br i1 %25, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  %26 = getelementptr i8, ptr %0, i64 8
  %27 = load ptr, ptr %26, align 8, !invariant.load !2
  %28 = addrspacecast ptr %27 to ptr addrspace(1)
  %29 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %20)
  %30 = getelementptr float, ptr addrspace(1) %28, i64 %10
  %31 = bitcast <16 x i1> %23 to i16
  %32 = icmp eq i16 %31, -1
  br i1 %32, label %either.yes, label %either.no, !prof !5

either.yes:                                       ; preds = %if.then.i
  %33 = ptrtoint ptr addrspace(1) %30 to i64
  %34 = and i64 %33, 63
  %35 = getelementptr inbounds i8, ptr %group, i64 0
  %36 = load ptr, ptr %35, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %37 = getelementptr inbounds i8, ptr %36, i64 424
  %38 = load i64, ptr %37, align 8, !invariant.load !2
  %39 = or i64 %34, %38
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %either.yes2, label %either.no3, !prof !5

either.yes2:                                      ; preds = %either.yes
  store <16 x float> %29, ptr addrspace(1) %30, align 64, !nontemporal !6
  br label %either.end1

either.no3:                                       ; preds = %either.yes
  store <16 x float> %29, ptr addrspace(1) %30, align 4
  br label %either.end1

either.end1:                                      ; preds = %either.no3, %either.yes2
  br label %either.end

either.no:                                        ; preds = %if.then.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %29, ptr addrspace(1) %30, i32 4, <16 x i1> %23)
  br label %either.end

either.end:                                       ; preds = %either.no, %either.end1
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %either.end, %if.then.i.guard
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- drop-rest-collisions
; Function Attrs: convergent nounwind null_pointer_is_valid
define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread) #2 {
entry:
  %0 = getelementptr inbounds i8, ptr %group, i64 28
  %1 = load i32, ptr %0, align 4, !invariant.load !2
  %2 = getelementptr inbounds i8, ptr %group, i64 32
  %3 = load i32, ptr %2, align 4, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %group, i64 36
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %1, -16
  %7 = icmp uge i32 0, %5
  br i1 %7, label %z.done, label %z.loop

z.loop:                                           ; preds = %y.done, %entry
  %z = phi i32 [ 0, %entry ], [ %13, %y.done ]
  %8 = icmp uge i32 0, %3
  br i1 %8, label %y.done, label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %rest.done, %z.loop
  %y = phi i32 [ 0, %z.loop ], [ %23, %rest.done ]
  %9 = mul i32 %z, %3
  %10 = add i32 %9, %y
  %11 = mul i32 %10, %1
  %12 = icmp uge i32 0, %6
  br i1 %12, label %x.done, label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %13 = add nuw i32 %z, 1
  %14 = icmp ult i32 %13, %5
  br i1 %14, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop, %y.loop
  %x = phi i32 [ 0, %y.loop ], [ %17, %x.loop ]
  %15 = add nuw i32 %11, %x
  %16 = add nuw i32 %11, %x
  call void @kernel.body.wide(ptr %group, i32 %x, i32 %y, i32 %z, i32 %16, i32 0, i1 true)
  %17 = add nuw i32 %x, 16
  %18 = icmp ult i32 %17, %6
  br i1 %18, label %x.loop, label %x.done

x.done:                                           ; preds = %x.loop, %y.loop
  %19 = icmp uge i32 %6, %1
  br i1 %19, label %rest.done, label %rest.loop

rest.loop:                                        ; preds = %rest.loop, %x.done
  %rest = phi i32 [ %6, %x.done ], [ %21, %rest.loop ]
  %20 = add nuw i32 %11, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %20, i32 0, i1 true)
  %21 = add nuw i32 %rest, 1
  %22 = icmp ult i32 %21, %1
  br i1 %22, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %23 = add nuw i32 %y, 1
  %24 = icmp ult i32 %23, %3
  br i1 %24, label %y.loop, label %y.done
}

; ---- optimize
; Function Attrs: convergent nounwind null_pointer_is_valid
define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread) #1 {
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
  %.not.not = icmp eq i32 %6, %1
  br label %z.loop

z.loop:                                           ; preds = %z.loop.preheader, %y.done
  %z = phi i32 [ %32, %y.done ], [ 0, %z.loop.preheader ]
  br i1 %8, label %y.done, label %y.loop.preheader

y.loop.preheader:                                 ; preds = %z.loop
  %11 = mul i32 %z, %3
  %12 = load ptr, ptr %group, align 8, !align !4
  %13 = getelementptr inbounds i8, ptr %12, i64 384
  %14 = load i32, ptr %10, align 4
  %15 = getelementptr inbounds i8, ptr %12, i64 432
  %16 = getelementptr i8, ptr %12, i64 8
  %17 = getelementptr inbounds i8, ptr %12, i64 424
  br label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %y.loop.preheader, %rest.done
  %y = phi i32 [ %53, %rest.done ], [ 0, %y.loop.preheader ]
  %18 = add i32 %11, %y
  %19 = mul i32 %18, %1
  br i1 %9, label %x.done, label %x.loop.preheader

x.loop.preheader:                                 ; preds = %y.loop
  %20 = load ptr, ptr %12, align 8, !invariant.load !2, !noalias !5
  %21 = addrspacecast ptr %20 to ptr addrspace(1)
  %22 = load i32, ptr %13, align 4, !invariant.load !2, !noalias !5
  %23 = and i32 %22, -64
  %24 = mul nuw i32 %14, %23
  %25 = load i64, ptr %15, align 8, !invariant.load !2, !noalias !5
  %26 = shl i64 %25, 2
  %27 = icmp eq i64 %25, 0
  %28 = select i1 %27, i64 4096, i64 %26
  %29 = load ptr, ptr %16, align 8
  %30 = addrspacecast ptr %29 to ptr addrspace(1)
  %31 = load i64, ptr %17, align 8
  br label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %32 = add nuw i32 %z, 1
  %33 = icmp ult i32 %32, %5
  br i1 %33, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop.preheader, %kernel.body.wide.exit
  %x = phi i32 [ %48, %kernel.body.wide.exit ], [ 0, %x.loop.preheader ]
  %34 = add i32 %24, %x
  %35 = zext i32 %34 to i64
  %36 = getelementptr float, ptr addrspace(1) %21, i64 %35
  %37 = getelementptr i8, ptr addrspace(1) %36, i64 %28
  call void @llvm.prefetch.p1(ptr addrspace(1) %37, i32 0, i32 3, i32 1), !noalias !5, !simd.stream !2
  %38 = load <16 x float>, ptr addrspace(1) %36, align 4, !noalias !5
  %39 = fcmp oge <16 x float> %38, zeroinitializer
  %40 = bitcast <16 x i1> %39 to i16
  %.not = icmp eq i16 %40, 0
  br i1 %.not, label %kernel.body.wide.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %x.loop
  %41 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %38)
  %42 = getelementptr float, ptr addrspace(1) %30, i64 %35
  %43 = icmp eq i16 %40, -1
  br i1 %43, label %either.yes.i, label %either.no.i, !prof !8

either.yes.i:                                     ; preds = %if.then.i.i
  %44 = ptrtoint ptr addrspace(1) %42 to i64
  %45 = and i64 %44, 63
  %46 = or i64 %45, %31
  %47 = icmp eq i64 %46, 0
  br i1 %47, label %either.yes2.i, label %either.no3.i, !prof !8

either.yes2.i:                                    ; preds = %either.yes.i
  store <16 x float> %41, ptr addrspace(1) %42, align 64, !noalias !5, !nontemporal !9
  br label %kernel.body.wide.exit

either.no3.i:                                     ; preds = %either.yes.i
  store <16 x float> %41, ptr addrspace(1) %42, align 4, !noalias !5
  br label %kernel.body.wide.exit

either.no.i:                                      ; preds = %if.then.i.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %41, ptr addrspace(1) %42, i32 4, <16 x i1> %39), !noalias !5
  br label %kernel.body.wide.exit

kernel.body.wide.exit:                            ; preds = %either.no.i, %either.no3.i, %either.yes2.i, %x.loop
  %48 = add nuw i32 %x, 16
  %49 = icmp ult i32 %48, %6
  br i1 %49, label %x.loop, label %x.done

x.done:                                           ; preds = %kernel.body.wide.exit, %y.loop
  br i1 %.not.not, label %rest.done, label %rest.loop

rest.loop:                                        ; preds = %x.done, %rest.loop
  %rest = phi i32 [ %51, %rest.loop ], [ %6, %x.done ]
  %50 = add nuw i32 %19, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %50, i32 0, i1 true)
  %51 = add nuw i32 %rest, 1
  %52 = icmp ult i32 %51, %1
  br i1 %52, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %53 = add nuw i32 %y, 1
  %54 = icmp ult i32 %53, %3
  br i1 %54, label %y.loop, label %y.done
}

; ---- split-loops: as before

; ---- select-addresses: as before

; ---- expand-small-vectors: as before

; ---- legalize-masks: as before

; ---- store-halves: as before
