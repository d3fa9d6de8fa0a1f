; RUN: nvptx-matrix-products
; Four products of 16-bit matrices, of two A above each other with the same B and then with the next one, are one
; instruction. B is transposed once. A fifth product, for which there is no partner, has the same A below it.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK-COUNT-2: movmatrix.sync.aligned.m8n8.trans.b16
; CHECK-NOT: movmatrix
; CHECK: %[[FOUR:.*]] = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32({{.*}}, float 1.0{{.*}}, float 2.0{{.*}}, float 3.0{{.*}}, float 4.0{{.*}})
; CHECK-DAG: %[[X:.*]] = extractvalue { float, float, float, float } %[[FOUR]], 0
; CHECK-DAG: %[[Y:.*]] = extractvalue { float, float, float, float } %[[FOUR]], 3
; CHECK: movmatrix
; CHECK: %[[ONE:.*]] = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %[[A:[^,]*]], <2 x half> %[[A]], {{.*}}, float 0.0{{.*}}, float 0.0{{.*}}, float 0.0{{.*}}, float 0.0
; CHECK-NOT: call {{.*}}multiply_accumulate
; CHECK: store volatile float %[[X]]
; CHECK: store volatile float %[[Y]]
define ptx_kernel void @kernel(ptr addrspace(1) %out, half %a, half %b, half %c, half %d, half %e, half %f, half %g) convergent "metal-lanes-for-matrices" {
  %wide.a = fpext half %a to float
  %wide.b = fpext half %b to float
  %wide.c = fpext half %c to float
  %wide.d = fpext half %d to float
  %wide.e = fpext half %e to float
  %wide.f = fpext half %f to float
  %wide.g = fpext half %g to float
  %top = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float %wide.a, float %wide.e, float %wide.e, float 1.0, float 2.0)
  %top.0 = extractvalue { float, float } %top, 0
  %top.1 = extractvalue { float, float } %top, 1
  %bottom = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.b, float %wide.b, float %wide.e, float %wide.e, float 3.0, float 4.0)
  %bottom.0 = extractvalue { float, float } %bottom, 0
  %bottom.1 = extractvalue { float, float } %bottom, 1
  %top.next = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.c, float %wide.c, float %wide.f, float %wide.f, float %top.0, float %top.1)
  %bottom.next = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.d, float %wide.d, float %wide.f, float %wide.f, float %bottom.0, float %bottom.1)
  %x = extractvalue { float, float } %top.next, 0
  %y = extractvalue { float, float } %bottom.next, 1
  %alone = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide.a, float 0.5, float %wide.g, float %wide.g, float 0.0, float 0.0)
  %z = extractvalue { float, float } %alone, 0
  store volatile float %x, ptr addrspace(1) %out
  store volatile float %y, ptr addrspace(1) %out
  store volatile float %z, ptr addrspace(1) %out
  ret void
}
declare { float, float } @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
