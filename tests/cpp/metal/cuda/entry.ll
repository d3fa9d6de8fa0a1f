; RUN: nvptx-retarget,nvptx-spaces,nvptx-entry
; The kernel that is launched has a parameter for each buffer, an offset for each array of threadgroup memory, and the
; size of the grid. Threads outside the grid return at once. Names that PTX does not allow are encoded.
; CHECK: @metal_threadgroup_memory = external addrspace(3) global [0 x i8], align 16
; CHECK-LABEL: define ptx_kernel void @"sum$60float$62"(
; CHECK-SAME: ptr addrspace(1) %out, i32 %scratch, i32 %threads_per_grid.x, i32 %threads_per_grid.y, i32 %threads_per_grid.z)
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK: %[[HERE:.*]] = sub i32 %threads_per_grid.x, %{{.*}}
; CHECK: call i32 @llvm.umin.i32(i32 %{{.*}}, i32 %[[HERE]])
; CHECK: br i1 %{{.*}}, label %inside, label %outside
; CHECK: outside:
; CHECK-NEXT: ret void
; CHECK: %[[MEMORY:.*]] = getelementptr i8, ptr addrspace(3) @metal_threadgroup_memory, i32 %scratch
; CHECK: store i32 %{{.*}}, ptr addrspace(3) %[[MEMORY]]
; CHECK-NOT: call {{.*}} @__metal_
; CHECK: !{ptr @"sum$60float$62", !"maxntidx", i32 1024}
define void @"sum<float>"(ptr addrspace(1) %out, ptr addrspace(3) %scratch) {
  %x = call i32 @__metal_get_thread_position_in_grid(i32 0)
  store i32 %x, ptr addrspace(3) %scratch, align 4
  ret void
}
declare i32 @__metal_get_thread_position_in_grid(i32)
!kernel = !{!0, !1, !2}
!0 = !{!"sum<float>", !"sum<float>"}
!1 = !{!"buffer", i32 0, i32 1}
!2 = !{!"threadgroup", i32 0, i32 3}
