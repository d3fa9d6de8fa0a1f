; RUN: widen 16 x86-64-v4
; The index is computed from the thread's position by way of numbers that are not whole: if the elements are in two
; registers from that of the first or last lane on, they are found there. What all lanes add is not part of the test.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[FIRST:.*]] = call i32 @llvm.smin.i32
; CHECK: add i32 %[[FIRST]], %u
; CHECK: icmp ult <16 x i32> %{{.*}}, <i32 32
; CHECK: load <32 x i32>, ptr addrspace(1)
; CHECK: call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512
; CHECK: gather
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %u, i32 %x) #0 {
  %place = sitofp i32 %x to float
  %scaled = fmul float %place, 0.25
  %column = fptosi float %scaled to i32
  %sum = add i32 %column, %u
  %index = sext i32 %sum to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; An index that was read may be anything.
; CHECK-LABEL: define internal void @read.wide
; CHECK-NOT: vpermi2var
; CHECK: ret void
define void @read(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %u, i32 %x) #0 {
  %from = getelementptr i32, ptr addrspace(1) %out, i32 %x
  %index = load i32, ptr addrspace(1) %from
  %at = getelementptr float, ptr addrspace(1) %in, i32 %index
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
attributes #0 = { "target-features"="+avx512f" "target-cpu"="x86-64-v4" }
