; ---- separate-memory
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
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
  %17 = icmp ult i32 %16, 134217728
  call void @llvm.assume(i1 %17)
  %idxprom.i = zext i32 %16 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %18 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %18, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %19 = call float @llvm.sqrt.f32(float %18)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %19, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- simplify
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %11 = icmp ult i32 %10, 134217728
  call void @llvm.assume(i1 %11)
  %idxprom.i = zext nneg i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %12 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %12, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %13 = call float @llvm.sqrt.f32(float %12)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %13, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- select-elements: as before

; ---- remove-hints
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %11 = icmp ult i32 %10, 134217728
  %idxprom.i = zext nneg i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %12 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %12, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %13 = call float @llvm.sqrt.f32(float %12)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %13, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- unguarded-forms
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %11 = icmp ult i32 %10, 134217728
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %12 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %12, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %13 = call float @llvm.sqrt.f32(float %12)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %13, ptr addrspace(1) %arrayidx4.i, align 4
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- restored-sums: as before

; ---- peel-index-loops: as before

; ---- unroll-rows: as before

; ---- nontemporal-stores
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %11 = icmp ult i32 %10, 134217728
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %12 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %12, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %13 = call float @llvm.sqrt.f32(float %12)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %13, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- defer-additions: as before

; ---- share-rows: as before

; ---- lanes-in-turn: as before

; ---- prefetch-ahead
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %11 = icmp ult i32 %10, 134217728
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %12 = getelementptr inbounds i8, ptr %group, i64 0
  %13 = load ptr, ptr %12, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %14 = getelementptr inbounds i8, ptr %13, i64 432
  %15 = load i64, ptr %14, align 8, !invariant.load !2
  %16 = mul i64 %15, 4
  %17 = icmp eq i64 %15, 0
  %18 = select i1 %17, i64 4096, i64 %16
  %19 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %18
  call void @llvm.prefetch.p1(ptr addrspace(1) %19, i32 0, i32 3, i32 1), !simd.stream !2
  %20 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %20, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %21 = call float @llvm.sqrt.f32(float %20)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %21, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i, %entry
  ret void
}

; ---- loop-tails: as before

; ---- prepare
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %11 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %12 = getelementptr inbounds i8, ptr %11, i64 432
  %13 = load i64, ptr %12, align 8, !invariant.load !2
  %14 = mul i64 %13, 4
  %15 = icmp eq i64 %13, 0
  %16 = select i1 %15, i64 4096, i64 %14
  %17 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %16
  call void @llvm.prefetch.p1(ptr addrspace(1) %17, i32 0, i32 3, i32 1), !simd.stream !2
  %18 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %18, 0.000000e+00
  br i1 %cmp.i, label %_Z5rootsPU3AS1KfPU3AS1fj.exit, label %if.then.i

if.then.i:                                        ; preds = %entry
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %19 = call float @llvm.sqrt.f32(float %18)
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
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  call void @simd.mask(i1 %active)
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %11 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %12 = getelementptr inbounds i8, ptr %11, i64 432
  %13 = load i64, ptr %12, align 8, !invariant.load !2
  %14 = mul i64 %13, 4
  %15 = icmp eq i64 %13, 0
  %16 = select i1 %15, i64 4096, i64 %14
  %17 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %16
  call void @llvm.prefetch.p1(ptr addrspace(1) %17, i32 0, i32 3, i32 1), !simd.stream !2
  %18 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %18, 0.000000e+00
  %19 = select i1 %active, i1 %cmp.i, i1 false
  %20 = xor i1 %cmp.i, true
  %21 = select i1 %active, i1 %20, i1 false
  %22 = or i1 false, %21
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %23 = call i1 @simd.any(i1 %22)
  br i1 %23, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %22)
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %24 = call float @llvm.sqrt.f32(float %18)
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
define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #2 {
entry:
  call void @simd.mask(i1 %active)
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %x1 = addrspacecast ptr %1 to ptr addrspace(1)
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2
  %4 = getelementptr inbounds i8, ptr %0, i64 384
  %5 = load i32, ptr %4, align 4, !invariant.load !2
  %6 = and i32 %5, -64
  %7 = getelementptr inbounds i8, ptr %group, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !2
  %9 = mul nuw i32 %8, %6
  %10 = add nuw nsw i32 %9, %x
  %idxprom.i = sext i32 %10 to i64
  %arrayidx.i = getelementptr float, ptr addrspace(1) %x1, i64 %idxprom.i
  %11 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %12 = getelementptr inbounds i8, ptr %11, i64 432
  %13 = load i64, ptr %12, align 8, !invariant.load !2
  %14 = mul i64 %13, 4
  %15 = icmp eq i64 %13, 0
  %16 = select i1 %15, i64 4096, i64 %14
  %17 = getelementptr i8, ptr addrspace(1) %arrayidx.i, i64 %16
  call void @llvm.prefetch.p1(ptr addrspace(1) %17, i32 0, i32 3, i32 1), !simd.stream !2
  %18 = load float, ptr addrspace(1) %arrayidx.i, align 4
  %cmp.i = fcmp ult float %18, 0.000000e+00
  %19 = xor i1 %cmp.i, true
  %20 = select i1 %active, i1 %19, i1 false
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %21 = call i1 @simd.any(i1 %20)
  br i1 %21, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  call void @simd.mask(i1 %20)
  %out = addrspacecast ptr %3 to ptr addrspace(1)
  %22 = call float @llvm.sqrt.f32(float %18)
  %arrayidx4.i = getelementptr float, ptr addrspace(1) %out, i64 %idxprom.i
  store float %22, ptr addrspace(1) %arrayidx4.i, align 4, !simd.nontemporal !2
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %if.then.i.guard, %if.then.i
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- redundant-selects: as before

; ---- divided-matrices: as before

; ---- widen
; Function Attrs: convergent nounwind null_pointer_is_valid
define internal void @kernel.body.wide(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 8192) %x, i32 range(i32 0, 8192) %y, i32 range(i32 0, 8192) %z, i32 %index, i32 %lane, i1 %active) #3 {
entry:
  %0 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %1 = load ptr, ptr %0, align 8, !invariant.load !2
  %2 = addrspacecast ptr %1 to ptr addrspace(1)
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  %4 = load ptr, ptr %3, align 8, !invariant.load !2
  %5 = getelementptr inbounds i8, ptr %0, i64 384
  %6 = load i32, ptr %5, align 4, !invariant.load !2
  %7 = and i32 %6, -64
  %8 = getelementptr inbounds i8, ptr %group, i64 16
  %9 = load i32, ptr %8, align 4, !invariant.load !2
  %10 = mul nuw i32 %9, %7
  %11 = add i32 %10, %x
  %12 = sext i32 %11 to i64
  %13 = getelementptr float, ptr addrspace(1) %2, i64 %12
  %14 = load ptr, ptr %group, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %15 = getelementptr inbounds i8, ptr %14, i64 432
  %16 = load i64, ptr %15, align 8, !invariant.load !2
  %17 = mul i64 %16, 4
  %18 = icmp eq i64 %16, 0
  %19 = select i1 %18, i64 4096, i64 %17
  %20 = getelementptr i8, ptr addrspace(1) %13, i64 %19
  %21 = getelementptr i8, ptr addrspace(1) %20, i64 0
  call void @llvm.prefetch.p1(ptr addrspace(1) %21, i32 0, i32 3, i32 1), !simd.stream !2
  %22 = load <16 x float>, ptr addrspace(1) %13, align 4
  %23 = fcmp ult <16 x float> %22, zeroinitializer
  %24 = xor <16 x i1> %23, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %25 = select i1 true, <16 x i1> %24, <16 x i1> zeroinitializer
  br label %if.then.i.guard

if.then.i.guard:                                  ; preds = %entry
  %26 = bitcast <16 x i1> %25 to i16
  %27 = icmp ne i16 %26, 0
  br i1 %27, label %if.then.i, label %if.then.i.done

if.then.i:                                        ; preds = %if.then.i.guard
  %28 = addrspacecast ptr %4 to ptr addrspace(1)
  %29 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %22)
  %30 = getelementptr float, ptr addrspace(1) %28, i64 %12
  %31 = bitcast <16 x i1> %25 to i16
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
  call void @llvm.masked.store.v16f32.p1(<16 x float> %29, ptr addrspace(1) %30, i32 4, <16 x i1> %25)
  br label %either.end

either.end:                                       ; preds = %either.no, %either.end1
  br label %if.then.i.done

if.then.i.done:                                   ; preds = %either.end, %if.then.i.guard
  br label %_Z5rootsPU3AS1KfPU3AS1fj.exit

_Z5rootsPU3AS1KfPU3AS1fj.exit:                    ; preds = %if.then.i.done
  ret void
}

; ---- join-columns: as before

; ---- drop-rest-collisions
; Function Attrs: convergent nounwind null_pointer_is_valid
define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread) #3 {
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
  %z = phi i32 [ 0, %entry ], [ %10, %y.done ]
  %8 = icmp uge i32 0, %3
  br i1 %8, label %y.done, label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %rest.done, %z.loop
  %y = phi i32 [ 0, %z.loop ], [ %29, %rest.done ]
  %9 = icmp uge i32 0, %6
  br i1 %9, label %x.done, label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %10 = add nuw i32 %z, 1
  %11 = icmp ult i32 %10, %5
  br i1 %11, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop, %y.loop
  %x = phi i32 [ 0, %y.loop ], [ %20, %x.loop ]
  %12 = mul i32 %z, %3
  %13 = add i32 %12, %y
  %14 = mul i32 %13, %1
  %15 = add nuw i32 %14, %x
  %16 = mul i32 %z, %3
  %17 = add i32 %16, %y
  %18 = mul i32 %17, %1
  %19 = add nuw i32 %18, %x
  call void @kernel.body.wide(ptr %group, i32 %x, i32 %y, i32 %z, i32 %19, i32 0, i1 true)
  %20 = add nuw i32 %x, 16
  %21 = icmp ult i32 %20, %6
  br i1 %21, label %x.loop, label %x.done

x.done:                                           ; preds = %x.loop, %y.loop
  %22 = icmp uge i32 %6, %1
  br i1 %22, label %rest.done, label %rest.loop

rest.loop:                                        ; preds = %rest.loop, %x.done
  %rest = phi i32 [ %6, %x.done ], [ %27, %rest.loop ]
  %23 = mul i32 %z, %3
  %24 = add i32 %23, %y
  %25 = mul i32 %24, %1
  %26 = add nuw i32 %25, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %26, i32 0, i1 true)
  %27 = add nuw i32 %rest, 1
  %28 = icmp ult i32 %27, %1
  br i1 %28, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %29 = add nuw i32 %y, 1
  %30 = icmp ult i32 %29, %3
  br i1 %30, label %y.loop, label %y.done
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
  %z = phi i32 [ %30, %y.done ], [ 0, %z.loop.preheader ]
  br i1 %8, label %y.done, label %y.loop.preheader

y.loop.preheader:                                 ; preds = %z.loop
  %11 = load ptr, ptr %group, align 8, !align !4
  %12 = getelementptr inbounds i8, ptr %11, i64 8
  %13 = getelementptr inbounds i8, ptr %11, i64 384
  %14 = load i32, ptr %10, align 4
  %15 = getelementptr inbounds i8, ptr %11, i64 432
  %16 = getelementptr inbounds i8, ptr %11, i64 424
  %17 = mul i32 %z, %3
  br label %y.loop

z.done:                                           ; preds = %y.done, %entry
  ret void

y.loop:                                           ; preds = %y.loop.preheader, %rest.done
  %y = phi i32 [ %53, %rest.done ], [ 0, %y.loop.preheader ]
  br i1 %9, label %x.done, label %x.loop.preheader

x.loop.preheader:                                 ; preds = %y.loop
  %18 = load ptr, ptr %11, align 8, !invariant.load !2, !noalias !5
  %19 = addrspacecast ptr %18 to ptr addrspace(1)
  %20 = load ptr, ptr %12, align 8, !invariant.load !2, !noalias !5
  %21 = load i32, ptr %13, align 4, !invariant.load !2, !noalias !5
  %22 = and i32 %21, -64
  %23 = mul nuw i32 %14, %22
  %24 = load i64, ptr %15, align 8, !invariant.load !2, !noalias !5
  %25 = shl i64 %24, 2
  %26 = icmp eq i64 %24, 0
  %27 = select i1 %26, i64 4096, i64 %25
  %28 = addrspacecast ptr %20 to ptr addrspace(1)
  %29 = load i64, ptr %16, align 8
  br label %x.loop

y.done:                                           ; preds = %rest.done, %z.loop
  %30 = add nuw i32 %z, 1
  %31 = icmp ult i32 %30, %5
  br i1 %31, label %z.loop, label %z.done

x.loop:                                           ; preds = %x.loop.preheader, %kernel.body.wide.exit
  %x = phi i32 [ %46, %kernel.body.wide.exit ], [ 0, %x.loop.preheader ]
  %32 = add i32 %23, %x
  %33 = sext i32 %32 to i64
  %34 = getelementptr float, ptr addrspace(1) %19, i64 %33
  %35 = getelementptr i8, ptr addrspace(1) %34, i64 %27
  call void @llvm.prefetch.p1(ptr addrspace(1) %35, i32 0, i32 3, i32 1), !noalias !5, !simd.stream !2
  %36 = load <16 x float>, ptr addrspace(1) %34, align 4, !noalias !5
  %37 = fcmp oge <16 x float> %36, zeroinitializer
  %38 = bitcast <16 x i1> %37 to i16
  %.not = icmp eq i16 %38, 0
  br i1 %.not, label %kernel.body.wide.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %x.loop
  %39 = call <16 x float> @llvm.sqrt.v16f32(<16 x float> %36)
  %40 = getelementptr float, ptr addrspace(1) %28, i64 %33
  %41 = icmp eq i16 %38, -1
  br i1 %41, label %either.yes.i, label %either.no.i, !prof !8

either.yes.i:                                     ; preds = %if.then.i.i
  %42 = ptrtoint ptr addrspace(1) %40 to i64
  %43 = and i64 %42, 63
  %44 = or i64 %43, %29
  %45 = icmp eq i64 %44, 0
  br i1 %45, label %either.yes2.i, label %either.no3.i, !prof !8

either.yes2.i:                                    ; preds = %either.yes.i
  store <16 x float> %39, ptr addrspace(1) %40, align 64, !noalias !5, !nontemporal !9
  br label %kernel.body.wide.exit

either.no3.i:                                     ; preds = %either.yes.i
  store <16 x float> %39, ptr addrspace(1) %40, align 4, !noalias !5
  br label %kernel.body.wide.exit

either.no.i:                                      ; preds = %if.then.i.i
  call void @llvm.masked.store.v16f32.p1(<16 x float> %39, ptr addrspace(1) %40, i32 4, <16 x i1> %37), !noalias !5
  br label %kernel.body.wide.exit

kernel.body.wide.exit:                            ; preds = %either.no.i, %either.no3.i, %either.yes2.i, %x.loop
  %46 = add nuw i32 %x, 16
  %47 = icmp ult i32 %46, %6
  br i1 %47, label %x.loop, label %x.done

x.done:                                           ; preds = %kernel.body.wide.exit, %y.loop
  br i1 %.not.not, label %rest.done, label %rest.loop.preheader

rest.loop.preheader:                              ; preds = %x.done
  %48 = add i32 %17, %y
  %49 = mul i32 %48, %1
  br label %rest.loop

rest.loop:                                        ; preds = %rest.loop.preheader, %rest.loop
  %rest = phi i32 [ %51, %rest.loop ], [ %6, %rest.loop.preheader ]
  %50 = add nuw i32 %49, %rest
  call void @kernel.body.1(ptr %group, i32 %rest, i32 %y, i32 %z, i32 %50, i32 0, i1 true)
  %51 = add nuw i32 %rest, 1
  %52 = icmp ult i32 %51, %1
  br i1 %52, label %rest.loop, label %rest.done

rest.done:                                        ; preds = %rest.loop, %x.done
  %53 = add nuw i32 %y, 1
  %54 = icmp ult i32 %53, %3
  br i1 %54, label %y.loop, label %y.done
}

; ---- late-bfloat: as before

; ---- reciprocal-roots: as before

; ---- compare-halves: as before

; ---- split-loops: as before

; ---- select-addresses: as before

; ---- select-extremes: as before

; ---- expand-small-vectors: as before

; ---- legalize-masks: as before

; ---- store-halves: as before

; ---- transpose-structs: as before

; ---- merge-shuffles: as before

; ---- order-for-registers: as before

; ---- prefetch-pieces: as before

; ---- read-in-order: as before
