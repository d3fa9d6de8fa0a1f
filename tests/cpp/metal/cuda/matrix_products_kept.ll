; RUN: nvptx-matrix-products
; Products stay calls where an element is no 16-bit number, and where not all threads of a SIMD-group run them.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK-NOT: mma
; CHECK: ret void
define ptx_kernel void @kernel(ptr addrspace(1) %out, half %a, float %b) convergent "metal-lanes-for-matrices" {
  %wide = fpext half %a to float
  %of.floats = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide, float %wide, float %b, float %b, float 0.0, float 0.0)
  %of.inexact = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide, float 0x3FB99999A0000000, float %wide, float %wide, float 0.0, float 0.0)
  %x = extractvalue { float, float } %of.floats, 0
  %y = extractvalue { float, float } %of.inexact, 0
  store volatile float %x, ptr addrspace(1) %out
  store volatile float %y, ptr addrspace(1) %out
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = icmp ult i32 %lane, 7
  br i1 %first, label %some, label %end
some:
  %divergent = call { float, float } @__metal_simdgroup_multiply_accumulate_f32(float %wide, float %wide, float %wide, float %wide, float 0.0, float 0.0)
  %z = extractvalue { float, float } %divergent, 0
  store volatile float %z, ptr addrspace(1) %out
  br label %end
end:
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @__metal_barrier(i32, i32) convergent
declare { float, float } @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float) convergent
