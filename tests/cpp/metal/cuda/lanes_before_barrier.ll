; RUN: nvptx-lanes
; Lanes that diverge in front of a barrier wait for each other there, and nowhere before it.
; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK-NOT: bar.warp.sync
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: then:
; CHECK: call i32 @{{.*}}simd_sum_u32
define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %out) convergent {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %lane, 7
  br i1 %first, label %write, label %meet
write:
  store i32 %lane, ptr addrspace(1) %a, align 4
  br label %meet
meet:
  call void @__metal_barrier(i32 1, i32 2)
  br i1 %first, label %then, label %end
then:
  %part = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %part, ptr addrspace(1) %out, align 4
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @__metal_simd_sum_u32(i32) convergent
declare void @__metal_barrier(i32, i32) convergent
