; RUN: fetch-ahead
; A function that asks for what will be read at addresses that are read themselves, and does nothing else.
; CHECK-LABEL: define void @kernel.fetch
; CHECK: %row = load i32
; CHECK: %[[FAR:.*]] = getelementptr float, ptr addrspace(1) %rows
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[FAR]], i32 0, i32 3, i32 1)
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %indices, ptr addrspace(1) %rows, i64 %i) {
  %at = getelementptr i32, ptr addrspace(1) %indices, i64 %i
  %row = load i32, ptr addrspace(1) %at
  %far = getelementptr float, ptr addrspace(1) %rows, i32 %row
  %value = load float, ptr addrspace(1) %far
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to
  ret void
}
