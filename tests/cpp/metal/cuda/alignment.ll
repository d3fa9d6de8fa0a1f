; RUN: nvptx-retarget,nvptx-alignment,nvptx-vectors
; Loads, stores and copies get the alignment of their elements, whatever alignment they had. Copies of a few vectors
; become loads and stores. Threadgroup variables begin where a vector may.
; CHECK: @tile = internal addrspace(3) global [32 x half] undef, align 16
; CHECK-LABEL: define void @kernel
; CHECK-NEXT: load <4 x float>, ptr addrspace(1) %in, align 4
; CHECK-NEXT: load half, ptr addrspace(1) %in, align 2
; CHECK-NEXT: load float, ptr addrspace(1) %in, align 1
; CHECK-NEXT: store <4 x float> %vector, ptr addrspace(1) %out, align 4
; CHECK: load <4 x i32>, ptr addrspace(1) %{{.*}}, align 2
; CHECK: getelementptr i8, ptr addrspace(1) %in, i64 16
; CHECK: load <4 x i32>, ptr addrspace(1) %{{.*}}, align 2
; CHECK-COUNT-2: store <4 x i32> %{{.*}}, ptr addrspace(1) %{{.*}}, align 4
; CHECK: call void @llvm.memcpy{{.*}}(ptr addrspace(1) align 4 %out, ptr addrspace(1) align 2 %in, i64 24, i1 false)
@tile = internal addrspace(3) global [32 x half] undef, align 2
define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %vector = load <4 x float>, ptr addrspace(1) %in, align 16
  %part = load half, ptr addrspace(1) %in, align 8
  %packed = load float, ptr addrspace(1) %in, align 1
  store <4 x float> %vector, ptr addrspace(1) %out, align 16
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 16 %out, ptr addrspace(1) align 2 %in, i64 32, i1 false)
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 16 %out, ptr addrspace(1) align 2 %in, i64 24, i1 false)
  ret void
}
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
