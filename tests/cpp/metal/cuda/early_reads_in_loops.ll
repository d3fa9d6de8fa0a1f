; RUN: nvptx-early-reads
; In loops, reads of constant buffers move in front of exchanges between lanes, and of stores.
; CHECK-LABEL: loop:
; CHECK: %a = load float
; CHECK: %b = load float
; CHECK: %sum = call float @__metal_simd_sum_f32(float %a)
; CHECK: store float %sum
; CHECK: %total = call float @__metal_simd_sum_f32(float %b)
; CHECK: done:
; CHECK: %last = call float @__metal_simd_sum_f32
; CHECK: %c = load float
define ptx_kernel void @kernel(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr addrspace(1) %in, i64 %i
  %a = load float, ptr addrspace(1) %from
  %sum = call float @__metal_simd_sum_f32(float %a) #0
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %sum, ptr addrspace(1) %to
  %from.b = getelementptr i8, ptr addrspace(1) %from, i64 128
  %b = load float, ptr addrspace(1) %from.b
  %total = call float @__metal_simd_sum_f32(float %b) #0
  %to.b = getelementptr i8, ptr addrspace(1) %to, i64 128
  store float %total, ptr addrspace(1) %to.b
  %next = add nuw nsw i64 %i, 64
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %loop, label %done
done:
  %last = call float @__metal_simd_sum_f32(float %total) #0
  %c = load float, ptr addrspace(1) %in
  %all = fadd float %last, %c
  store float %all, ptr addrspace(1) %out
  ret void
}
declare float @__metal_simd_sum_f32(float) #0
attributes #0 = { convergent nounwind }
