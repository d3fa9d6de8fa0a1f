; RUN: nvptx-lanes
; Lanes that skip the sum would run the next iteration before the others, as some of those leave the loop. They wait at
; the end of the iteration; those that left wait behind the loop for all that entered it.
; CHECK-LABEL: define ptx_kernel void @skipped
; CHECK: %[[ENTERED:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK: %[[BEFORE:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br i1 %{{.*}}, label %sum, label %[[JOIN:.*]]
; CHECK: [[JOIN]]:
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 %[[BEFORE]])
; CHECK: br i1 %{{.*}}, label %end, label %loop
; CHECK: end:
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 %[[ENTERED]])
; CHECK: call i32 @{{.*}}simd_sum_u32
define ptx_kernel void @skipped(ptr addrspace(1) %a, ptr addrspace(1) %out) convergent {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %skips = icmp ult i32 %i, %lane
  br i1 %skips, label %latch, label %sum
sum:
  %part = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %part, ptr addrspace(1) %out, align 4
  %place = getelementptr i32, ptr addrspace(1) %a, i32 %lane
  %value = load i32, ptr addrspace(1) %place, align 4
  %leaves = icmp ugt i32 %value, %i
  br i1 %leaves, label %end, label %latch
latch:
  %next = add i32 %i, 1
  br label %loop
end:
  %all = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %all, ptr addrspace(1) %a, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @__metal_simd_sum_u32(i32) convergent
