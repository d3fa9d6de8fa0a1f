; RUN: nvptx-lanes
; The lanes of `if (a || b) sum` come to the sum in two ways, and other lanes wait elsewhere. Both ways get a join before
; it, where the lanes of the branch wait for each other.
; CHECK-LABEL: define ptx_kernel void @two_ways
; CHECK: %[[ALL:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br i1 %{{.*}}, label %second, label %[[JOIN:.*]]
; CHECK: second:
; CHECK: br label %[[JOIN]]
; CHECK: [[JOIN]]:
; CHECK-NEXT: %[[TAKEN:.*]] = phi i1
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 %[[ALL]])
; CHECK-NEXT: %[[AGAIN:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br i1 %[[TAKEN]], label %then, label %end
; CHECK: then:
; CHECK-NEXT: %[[SOME:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: call i32 @{{.*}}simd_sum_u32{{.*}}(i32 %lane, i32 %[[SOME]])
; CHECK: end:
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 %[[AGAIN]])
; CHECK: call i32 @{{.*}}simd_sum_u32
define ptx_kernel void @two_ways(ptr addrspace(1) %a, ptr addrspace(1) %out) convergent {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %lane, 7
  br i1 %first, label %then, label %second
second:
  %place = getelementptr i32, ptr addrspace(1) %a, i32 %lane
  %value = load i32, ptr addrspace(1) %place, align 4
  %more = icmp ugt i32 %value, 3
  br i1 %more, label %then, label %end
then:
  %part = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %part, ptr addrspace(1) %out, align 4
  br label %end
end:
  %all = call i32 @__metal_simd_sum_u32(i32 %lane)
  store i32 %all, ptr addrspace(1) %a, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @__metal_simd_sum_u32(i32) convergent
