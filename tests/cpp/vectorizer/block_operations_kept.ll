; RUN: block-operations
; Copies between shared memory stay only if they are short, have whole granules, and are aligned to these.
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
; CHECK-LABEL: define void @kept
; CHECK-NEXT: call void @llvm.memcpy
; CHECK-LABEL: define void @volatile
; CHECK-NOT: call
; CHECK: load volatile
; CHECK-LABEL: define void @unaligned
; CHECK-NOT: call
; CHECK: load i8, ptr addrspace(1) %{{.*}}, align 1
; CHECK-LABEL: define void @odd
; CHECK-NOT: call
; CHECK: ret void
define void @kept(ptr addrspace(3) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 16 %from, i64 16, i1 false)
  ret void
}
define void @volatile(ptr addrspace(3) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 16 %from, i64 16, i1 true)
  ret void
}
define void @unaligned(ptr addrspace(3) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 1 %from, i64 16, i1 false)
  ret void
}
define void @odd(ptr addrspace(3) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 16 %from, i64 18, i1 false)
  ret void
}
; Blocks that may overlap are read before anything is written.
; CHECK-LABEL: define void @overlap
; CHECK-NOT: store
; CHECK: load i32
; CHECK: load i32
; CHECK-NOT: load
; CHECK: store i32
; CHECK: store i32
define void @overlap(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i64 8, i1 false)
  ret void
}
