; RUN: prefetch-slice,drop-dead-code
; The slice prefetches from addresses that are read from memory, and does nothing else.
; CHECK-LABEL: define void @kernel.prefetch
; CHECK: %row = load i32
; CHECK: %[[FAR:.*]] = getelementptr float, ptr addrspace(1) %rows
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[FAR]], i32 0, i32 2, i32 1)
; CHECK-NEXT: ret void
define void @kernel(ptr %buffers, i64 %i) {
  %out.place = getelementptr i8, ptr %buffers, i64 0
  %out.address = load ptr, ptr %out.place, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %indices.place = getelementptr i8, ptr %buffers, i64 8
  %indices.address = load ptr, ptr %indices.place, !invariant.load !0
  %indices = addrspacecast ptr %indices.address to ptr addrspace(1)
  %rows.place = getelementptr i8, ptr %buffers, i64 16
  %rows.address = load ptr, ptr %rows.place, !invariant.load !0
  %rows = addrspacecast ptr %rows.address to ptr addrspace(1)
  %at = getelementptr i32, ptr addrspace(1) %indices, i64 %i
  %row = load i32, ptr addrspace(1) %at
  %far = getelementptr float, ptr addrspace(1) %rows, i32 %row
  %value = load float, ptr addrspace(1) %far
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to
  ret void
}

; The rows of a sparse matrix: positions give the entries, which give the addresses to prefetch. The slice runs the
; first entries of a row only.
; CHECK-LABEL: define void @rows.prefetch
; CHECK: %first = load i32
; CHECK: %iteration = phi i32 [ 0, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK: %column = load i32
; CHECK: call void @llvm.prefetch.p1
; CHECK-NOT: store
; CHECK: %[[NEXT]] = add
; CHECK: icmp ult i32 %[[NEXT]], 8
; CHECK: br i1
; CHECK: ret void
define void @rows(ptr %buffers, i64 %i) {
entry:
  %out.place = getelementptr i8, ptr %buffers, i64 0
  %out.address = load ptr, ptr %out.place, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %starts.place = getelementptr i8, ptr %buffers, i64 8
  %starts.address = load ptr, ptr %starts.place, !invariant.load !0
  %starts = addrspacecast ptr %starts.address to ptr addrspace(1)
  %columns.place = getelementptr i8, ptr %buffers, i64 16
  %columns.address = load ptr, ptr %columns.place, !invariant.load !0
  %columns = addrspacecast ptr %columns.address to ptr addrspace(1)
  %x.place = getelementptr i8, ptr %buffers, i64 24
  %x.address = load ptr, ptr %x.place, !invariant.load !0
  %x = addrspacecast ptr %x.address to ptr addrspace(1)
  %at = getelementptr i32, ptr addrspace(1) %starts, i64 %i
  %first = load i32, ptr addrspace(1) %at
  %behind = getelementptr i32, ptr addrspace(1) %at, i64 1
  %last = load i32, ptr addrspace(1) %behind
  br label %loop
loop:
  %k = phi i32 [ %first, %entry ], [ %after, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %place = getelementptr i32, ptr addrspace(1) %columns, i32 %k
  %column = load i32, ptr addrspace(1) %place
  %far = getelementptr float, ptr addrspace(1) %x, i32 %column
  %value = load float, ptr addrspace(1) %far
  %more = fadd float %sum, %value
  %after = add i32 %k, 1
  %done = icmp uge i32 %after, %last
  br i1 %done, label %exit, label %loop
exit:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %more, ptr addrspace(1) %to
  ret void
}

; The iterations of this loop read no new address: what comes next follows what came before.
; CHECK-NOT: @row_of_many.prefetch
define void @row_of_many(ptr %buffers, i64 %i) {
entry:
  %out.place = getelementptr i8, ptr %buffers, i64 0
  %out.address = load ptr, ptr %out.place, !invariant.load !0
  %out = addrspacecast ptr %out.address to ptr addrspace(1)
  %indices.place = getelementptr i8, ptr %buffers, i64 8
  %indices.address = load ptr, ptr %indices.place, !invariant.load !0
  %indices = addrspacecast ptr %indices.address to ptr addrspace(1)
  %rows.place = getelementptr i8, ptr %buffers, i64 16
  %rows.address = load ptr, ptr %rows.place, !invariant.load !0
  %rows = addrspacecast ptr %rows.address to ptr addrspace(1)
  %at = getelementptr i32, ptr addrspace(1) %indices, i64 %i
  %row = load i32, ptr addrspace(1) %at
  br label %loop
loop:
  %k = phi i32 [ %row, %entry ], [ %after, %loop ]
  %far = getelementptr float, ptr addrspace(1) %rows, i32 %k
  %value = load float, ptr addrspace(1) %far
  %to = getelementptr float, ptr addrspace(1) %out, i32 %k
  store float %value, ptr addrspace(1) %to
  %after = add i32 %k, 1
  %done = icmp eq i32 %after, 100
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

!0 = !{}
