; RUN: widen 16 x86-64-v4
; Processors gather no elements of 16 bits: 32 bits are read from each, as far as the margins of memory.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[MORE:.*]] = call <16 x i32> @llvm.masked.gather.v16i32
; CHECK: %[[BITS:.*]] = trunc <16 x i32> %[[MORE]] to <16 x i16>
; CHECK: bitcast <16 x i16> %[[BITS]] to <16 x half>
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %at = getelementptr half, ptr addrspace(1) %in, i32 %vary
  %value = load half, ptr addrspace(1) %at
  %to = getelementptr half, ptr addrspace(1) %out, i32 %x
  store half %value, ptr addrspace(1) %to
  ret void
}
; A table of the program has no margins.
; CHECK-LABEL: define internal void @in_table.wide
; CHECK-NOT: masked.gather
; CHECK: call void @simd.load.lanes
define void @in_table(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vary, i32 %x) #0 {
  %at = getelementptr half, ptr addrspace(2) @table, i32 %vary
  %value = load half, ptr addrspace(2) %at
  %to = getelementptr half, ptr addrspace(1) %out, i32 %x
  store half %value, ptr addrspace(1) %to
  ret void
}
@table = internal addrspace(2) constant [500 x half] zeroinitializer
attributes #0 = { "target-features"="+avx512f,+avx512bw,+avx512vl" "target-cpu"="x86-64-v4" }
