; RUN: nvptx-matrix-loads
; Matrices whose rows are aligned are loaded by the warp, up to four at once and in the order in which a product takes
; them. One that is used transposed is loaded so. A write is a border, and others are loaded by each lane.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(
; CHECK: call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(
; CHECK-NOT: movmatrix
; CHECK: store i32 7
; CHECK: call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(
; CHECK-NOT: ldmatrix
; CHECK: %[[OWN:.*]] = load i32, ptr addrspace(3) %other
; CHECK: store volatile i32 %[[OWN]]
; CHECK: ret void
@tile = internal addrspace(3) global [4096 x half] undef, align 16
define ptx_kernel void @kernel(ptr addrspace(1) %out, ptr addrspace(3) %other) convergent "metal-lanes-for-matrices" {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) @tile, i64 40, i64 1, i32 %lane)
  %b = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i64 32), i64 40, i64 1, i32 %lane)
  %c = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i64 64), i64 40, i64 1, i32 %lane)
  %columns = call i32 asm "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r"(i32 %c) convergent
  store volatile i32 %a, ptr addrspace(1) %out
  store volatile i32 %b, ptr addrspace(1) %out
  store volatile i32 %columns, ptr addrspace(1) %out
  store i32 7, ptr addrspace(3) @tile
  %again = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) @tile, i64 40, i64 1, i32 %lane)
  store volatile i32 %again, ptr addrspace(1) %out
  %own = call i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) %other, i64 40, i64 1, i32 %lane)
  store volatile i32 %own, ptr addrspace(1) %out
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @__metal_barrier(i32, i32) convergent
define i32 @__metal_simdgroup_load_threadgroup_16(ptr addrspace(3) nocapture readonly %p, i64 %row, i64 %column, i32 %lane) noinline memory(argmem: read) {
  %pair = load i32, ptr addrspace(3) %p
  ret i32 %pair
}
