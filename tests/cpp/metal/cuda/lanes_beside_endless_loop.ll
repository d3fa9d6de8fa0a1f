; RUN: nvptx-lanes
; A loop without an end, which no lane enters, gets one: lanes that skipped the first sum still wait for the others.
; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK: %[[ENTERED:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br i1 %{{.*}}, label %{{.*}}, label
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 %[[ENTERED]])
; CHECK: store i32 %{{.*}}, ptr addrspace(1) %out
; CHECK: br i1 %{{.*}}, label %never, label %loop
; CHECK: never:
; CHECK-NEXT: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %out) convergent {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %some = icmp ult i32 %lane, 9
  br i1 %some, label %join, label %first
first:
  %part = call i32 @__metal_simd_sum_u32(i32 %lane)
  br label %join
join:
  %value = phi i32 [ 0, %entry ], [ %part, %first ]
  %kept = call i32 @metal.way(i32 1)
  %leaves = icmp eq i32 %kept, 1
  br i1 %leaves, label %end, label %loop
end:
  %sum = call i32 @__metal_simd_sum_u32(i32 %value)
  store i32 %sum, ptr addrspace(1) %out, align 4
  ret void
loop:
  br i1 %some, label %loop, label %again
again:
  %other = call i32 @__metal_simd_sum_u32(i32 %lane)
  br label %loop
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @metal.way(i32) memory(none)
declare i32 @__metal_simd_sum_u32(i32) convergent
