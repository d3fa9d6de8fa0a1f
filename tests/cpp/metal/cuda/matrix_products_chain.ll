; RUN: nvptx-matrix-products
; Products of one B that add to each other are no rows of one instruction.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32({{.*}}, float 1.0{{.*}}, float 2.0{{.*}}, float 0.0{{.*}}, float 0.0{{.*}})
; CHECK-NOT: mma.
; CHECK: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %out, half %a, half %b) convergent "metal-lanes-for-matrices" {
  %wide.a = fpext half %a to float
  %wide.b = fpext half %b to float
  %one = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.b, float %wide.b, float 1.0, float 2.0)
  %one.0 = extractvalue { float, float } %one, 0
  %one.1 = extractvalue { float, float } %one, 1
  %two = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.b, float %wide.b, float %wide.b, float %wide.b, float %one.0, float %one.1)
  %x = extractvalue { float, float } %two, 0
  store volatile float %x, ptr addrspace(1) %out
  ret void
}
declare { float, float } @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
