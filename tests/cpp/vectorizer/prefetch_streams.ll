; RUN: prefetch-ahead
; In code with non-temporal stores, the first read of each buffer is prefetched a page ahead, or for the threadgroup
; that runs next.
@in = external addrspace(1) global [0 x float]
@table = external addrspace(1) global [0 x i64]
@out = external addrspace(1) global [0 x float]

; CHECK-LABEL: define void @sum
; CHECK: %[[STRIDE:.*]] = load i64, ptr %{{.*}}, !invariant.load
; CHECK: %[[VISIT:.*]] = mul i64 %[[STRIDE]], 4
; CHECK: %[[NONE:.*]] = icmp eq i64 %[[STRIDE]], 0
; CHECK: %[[BYTES:.*]] = select i1 %[[NONE]], i64 4096, i64 %[[VISIT]]
; CHECK: %[[AHEAD:.*]] = getelementptr i8, ptr addrspace(1) %first, i64 %[[BYTES]]
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[AHEAD]], i32 0, i32 3, i32 1), !simd.stream
; CHECK-NEXT: %a = load float, ptr addrspace(1) %first
; CHECK-NOT: prefetch
; CHECK: ret void
define void @sum(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %i = zext i32 %x to i64
  %first = getelementptr float, ptr addrspace(1) @in, i64 %i
  %second = getelementptr i8, ptr addrspace(1) %first, i64 4
  %a = load float, ptr addrspace(1) %first
  %b = load float, ptr addrspace(1) %second
  %both = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) @out, i64 %i
  store float %both, ptr addrspace(1) %to, align 4, !simd.nontemporal !0
  ret void
}
; It is not if addresses were read from memory as well, in loops, or without non-temporal stores.
; CHECK-LABEL: define void @rows
; CHECK: call void @llvm.prefetch
; CHECK-NEXT: %row = load
; CHECK-NOT: prefetch
define void @rows(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %i = zext i32 %x to i64
  %place = getelementptr i64, ptr addrspace(1) @table, i64 %i
  %row = load i64, ptr addrspace(1) %place
  %at = getelementptr float, ptr addrspace(1) @in, i64 %row
  %a = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) @out, i64 %i
  store float %a, ptr addrspace(1) %to, align 4, !simd.nontemporal !0
  ret void
}
; CHECK-LABEL: define void @loop
; CHECK-NOT: prefetch
; CHECK-LABEL: define void @stays
; CHECK-NOT: prefetch
; CHECK: ret void
define void @loop(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %i = zext i32 %x to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr addrspace(1) @in, i64 %k
  %a = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) @out, i64 %k
  store float %a, ptr addrspace(1) %to, align 4, !simd.nontemporal !0
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %i
  br i1 %more, label %loop, label %done
done:
  ret void
}
define void @stays(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %i = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) @in, i64 %i
  %a = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) @out, i64 %i
  store float %a, ptr addrspace(1) %to, align 4
  ret void
}

!0 = !{}
