; RUN: nvptx-lanes
; Operations of a SIMD-group have the mask of the active lanes. In convergent code these are all lanes that have not
; ended, and the operation waits for them. Between a divergent branch and its join, they are the lanes that the hardware
; runs together.
; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK: %[[ALIVE:.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
; CHECK: call i32 @{{.*}}simd_sum_u32{{.*}}(i32 %lane, i32 %[[ALIVE]])
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: some:
; CHECK-NEXT: %[[ACTIVE:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: call i32 @{{.*}}simd_sum_u32{{.*}}(i32 %lane, i32 %[[ACTIVE]])
; CHECK: end:
; CHECK-NEXT: call void @llvm.nvvm.barrier0()
; CHECK-NEXT: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %out) convergent {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %sum = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %sum, ptr addrspace(1) %out, align 4
  call void @__metal_barrier(i32 1, i32 2)
  %first = icmp ult i32 %lane, 7
  br i1 %first, label %some, label %end
some:
  %part = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %part, ptr addrspace(1) %out, align 4
  br label %end
end:
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @__metal_simd_sum_u32(i32) convergent
declare void @__metal_barrier(i32, i32) convergent
