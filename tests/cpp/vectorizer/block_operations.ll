; RUN: block-operations
; Copies and fills of a thread's private memory become loads and stores. A short copy between shared memory stays.
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
; CHECK-LABEL: define void @to_thread
; CHECK-NOT: memcpy
; CHECK: %[[A:.*]] = load i32, ptr addrspace(1)
; CHECK: %[[B:.*]] = load i32, ptr addrspace(1)
; CHECK: store i32 %[[A]], ptr
; CHECK: store i32 %[[B]], ptr
define void @to_thread(ptr addrspace(1) %in) {
  %own = alloca [2 x i32], align 4
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %own, ptr addrspace(1) align 4 %in, i64 8, i1 false)
  ret void
}
; CHECK-LABEL: define void @fill
; CHECK: store i16 257, ptr
define void @fill() {
  %own = alloca i16, align 2
  call void @llvm.memset.p0.i64(ptr align 2 %own, i8 1, i64 2, i1 false)
  ret void
}
; CHECK-LABEL: define void @to_tile
; CHECK-NEXT: call void @llvm.memcpy.p3.p1.i64
define void @to_tile(ptr addrspace(3) %tile, ptr addrspace(1) %in) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %tile, ptr addrspace(1) align 16 %in, i64 16, i1 false)
  ret void
}
