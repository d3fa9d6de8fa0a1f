; RUN: nvptx-lanes
; Where a lane runs another thread than that of its number, shuffles, votes and the order of sums go by threads.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: %[[VOTES:.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 %{{.*}}, i1 %odd)
; CHECK: lshr i32 %[[VOTES]], 6
; CHECK: define internal float @metal.simd_sum_f32(
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{{.*}}, i32 1, i32 31)
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{{.*}}, i32 4, i32 31)
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{{.*}}, i32 8, i32 31)
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{{.*}}, i32 2, i32 31)
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{{.*}}, i32 16, i32 31)
define ptx_kernel void @kernel(ptr addrspace(1) %out, float %x) convergent "metal-lanes-for-matrices" {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %odd = trunc i32 %lane to i1
  %votes = call i32 @__metal_simd_ballot(i1 %odd)
  store i32 %votes, ptr addrspace(1) %out
  %sum = call float @__metal_simd_sum_f32(float %x)
  store float %sum, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @__metal_simd_ballot(i1) convergent
declare float @__metal_simd_sum_f32(float) convergent
