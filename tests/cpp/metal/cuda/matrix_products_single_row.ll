; RUN: nvptx-matrix-products
; Instructions with a single row that add to each other do so in the row below, too, whose results nobody uses.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: %[[FIRST:.*]] = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32({{.*}}, float 1.0{{.*}}, float 2.0{{.*}}, float 0.0{{.*}}, float 0.0{{.*}})
; CHECK-DAG: %[[LEFT:.*]] = extractvalue { float, float, float, float } %[[FIRST]], 2
; CHECK-DAG: %[[RIGHT:.*]] = extractvalue { float, float, float, float } %[[FIRST]], 3
; CHECK: call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32({{.*}}, float %[[LEFT]], float %[[RIGHT]])
; CHECK-NOT: mma.
; CHECK: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %out, half %a, half %b, half %c) convergent "metal-lanes-for-matrices" {
  %wide.a = fpext half %a to float
  %wide.b = fpext half %b to float
  %wide.c = fpext half %c to float
  %one = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.b, float %wide.b, float 1.0, float 2.0)
  %one.0 = extractvalue { float, float } %one, 0
  %one.1 = extractvalue { float, float } %one, 1
  %two = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.c, float %wide.c, float %one.0, float %one.1)
  %two.0 = extractvalue { float, float } %two, 0
  %two.1 = extractvalue { float, float } %two, 1
  %three = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.b, float %wide.b, float %wide.c, float %wide.c, float %two.0, float %two.1)
  %x = extractvalue { float, float } %three, 0
  %y = extractvalue { float, float } %three, 1
  store volatile float %x, ptr addrspace(1) %out
  store volatile float %y, ptr addrspace(1) %out
  ret void
}
declare { float, float } @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
