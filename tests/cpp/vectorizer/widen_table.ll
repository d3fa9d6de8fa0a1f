; RUN: widen 16 x86-64-v4
; The index is less than 16: the table, which is a buffer, is read as a whole, and the elements are found in a register.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: load <16 x i32>, ptr addrspace(1)
; CHECK: call <16 x i32> @llvm.x86.avx512.permvar.si.512
; CHECK-NOT: gather
; CHECK: ret void
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %index = and i32 %vary, 15
  %at = getelementptr float, ptr addrspace(1) %in, i32 %index
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; A table of the program is not read beyond its end. It may be too large for two registers, and its elements smaller.
; CHECK-LABEL: define internal void @halves.wide
; CHECK: load <40 x i16>, ptr addrspace(2)
; CHECK-COUNT-2: call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512
; CHECK: and <16 x i32> %{{.*}}, <i32 32
; CHECK: trunc <16 x i32> %{{.*}} to <16 x i16>
@table = internal addrspace(2) constant [40 x half] zeroinitializer
define void @halves(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %index = urem i32 %vary, 40
  %at = getelementptr half, ptr addrspace(2) @table, i32 %index
  %value = load half, ptr addrspace(2) %at
  %to = getelementptr half, ptr addrspace(1) %out, i32 %x
  store half %value, ptr addrspace(1) %to
  ret void
}
; A table of the program that is shorter than what the index allows is not read as a whole.
; CHECK-LABEL: define internal void @short_table.wide
; CHECK-NOT: permvar
; CHECK: gather
define void @short_table(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %index = and i32 %vary, 15
  %at = getelementptr float, ptr addrspace(2) @five, i32 %index
  %value = load float, ptr addrspace(2) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; A variable that is the same in all lanes. Its reads do not keep the stores apart.
; CHECK-LABEL: define internal void @variable.wide
; CHECK: load <16 x i32>, ptr %
; CHECK: permvar
; CHECK: permvar
; CHECK-NOT: store
; CHECK: store <32 x i32>
; CHECK-NEXT: ret void
define void @variable(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %table = alloca [16 x i32]
  %index = and i32 %vary, 15
  %at = getelementptr i32, ptr %table, i32 %index
  %value = load i32, ptr %at
  %twice = shl i32 %x, 1
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %twice
  store i32 %value, ptr addrspace(1) %to
  %other_index = lshr i32 %index, 1
  %other_at = getelementptr i32, ptr %table, i32 %other_index
  %other = load i32, ptr %other_at
  %behind = getelementptr i8, ptr addrspace(1) %to, i64 4
  store i32 %other, ptr addrspace(1) %behind
  ret void
}
@five = internal addrspace(2) constant [5 x float] zeroinitializer
attributes #0 = { "target-features"="+avx512f" "target-cpu"="x86-64-v4" }
