; RUN: nvptx-matrix-products
; A product whose factors are known early waits for the sum that it adds to, though the instruction for that sum waits
; for the factors of another product.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: load volatile half
; CHECK: %[[TWO:.*]] = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK: %[[SUM:.*]] = extractvalue { float, float, float, float } %[[TWO]], 0
; CHECK: call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32({{.*}}, float %[[SUM]],
define ptx_kernel void @kernel(ptr addrspace(1) %out, half %a, half %b, half %c) convergent "metal-lanes-for-matrices" {
  %wide.a = fpext half %a to float
  %wide.b = fpext half %b to float
  %wide.c = fpext half %c to float
  %top = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.b, float %wide.b, float 1.0, float 2.0)
  %top.0 = extractvalue { float, float } %top, 0
  %top.1 = extractvalue { float, float } %top, 1
  %late = load volatile half, ptr addrspace(1) %out
  %wide.late = fpext half %late to float
  %bottom = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.late, float %wide.late, float %wide.b, float %wide.b, float 3.0, float 4.0)
  %bottom.0 = extractvalue { float, float } %bottom, 0
  %next = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.c, float %wide.c, float %top.0, float %top.1)
  %x = extractvalue { float, float } %next, 0
  store volatile float %x, ptr addrspace(1) %out
  store volatile float %bottom.0, ptr addrspace(1) %out
  ret void
}
declare { float, float } @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
