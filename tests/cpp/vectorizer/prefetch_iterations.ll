; RUN: prefetch-ahead
; In the iteration of an interchanged loop with non-temporal stores, a read is prefetched for a thread a page further in
; the row, or, beyond its end, for one near its start in the next iteration. If the row is shorter than a page, it is
; prefetched for the same thread in a later iteration.
; CHECK-LABEL: define void @iteration
; CHECK: %[[SIZE:.*]] = getelementptr inbounds i8, ptr %group, i64 28
; CHECK-NEXT: %[[ROW:.*]] = load i32, ptr %[[SIZE]]
; CHECK: %[[GANG:.*]] = and i32 %x, -32
; CHECK: %[[SHORT:.*]] = icmp ult i32 %[[ROW]], 1024
; CHECK: %[[END:.*]] = add i32 %[[GANG]], 1024
; CHECK: %[[INROW:.*]] = icmp ult i32 %[[END]], %[[ROW]]
; CHECK: %[[BACK:.*]] = sub i32 1024, %[[ROW]]
; CHECK: %[[THREADS:.*]] = select i1 %[[INROW]], i32 1024, i32 %[[BACK]]
; CHECK: %[[FURTHER:.*]] = select i1 %[[SHORT]], i32 0, i32 %[[THREADS]]
; CHECK: %[[X:.*]] = add i32 %x, %[[FURTHER]]
; CHECK: %[[LATER:.*]] = add i32 %iteration, %{{.*}}
; CHECK: %[[SKIPPED:.*]] = mul i32 %[[LATER]], %stride
; CHECK: %[[PLACE:.*]] = add i32 %[[X]], %[[SKIPPED]]
; CHECK: %[[LONG:.*]] = zext i32 %[[PLACE]] to i64
; CHECK: %[[AHEAD:.*]] = getelementptr float, ptr addrspace(1) %in, i64 %[[LONG]]
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[AHEAD]], i32 0, i32 3, i32 1), !simd.stream
; CHECK-NEXT: %a = load float, ptr addrspace(1) %first
; CHECK-NOT: prefetch
; CHECK: ret void
define void @iteration(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, i32 %iteration) {
  %buffers = load ptr, ptr %group, !invariant.load !0
  %in.p = load ptr, ptr %buffers, !invariant.load !0
  %in = addrspacecast ptr %in.p to ptr addrspace(1)
  %out.at = getelementptr i8, ptr %buffers, i64 8
  %out.p = load ptr, ptr %out.at, !invariant.load !0
  %out = addrspacecast ptr %out.p to ptr addrspace(1)
  %stride.at = getelementptr i8, ptr %buffers, i64 16
  %stride = load i32, ptr %stride.at, !invariant.load !0
  %skipped = mul nuw i32 %iteration, %stride
  %place = add nuw i32 %x, %skipped
  %long = zext i32 %place to i64
  %first = getelementptr float, ptr addrspace(1) %in, i64 %long
  %a = load float, ptr addrspace(1) %first
  %to = getelementptr float, ptr addrspace(1) %out, i64 %long
  store float %a, ptr addrspace(1) %to, align 4, !simd.nontemporal !0
  ret void
}
!0 = !{}
