; RUN: widen 16 x86-64-v4
; A gather takes signed indices of 32 bits. Unsigned ones are moved down by half of their range, and the array's address
; up by as many elements.
; CHECK-LABEL: define internal void @table.wide
; CHECK: %[[ROOT:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 8589934592
; CHECK: %[[INDEX:.*]] = xor <16 x i32> %{{.*}}, <i32 -2147483648, i32 -2147483648,
; CHECK: %[[WIDE:.*]] = sext <16 x i32> %[[INDEX]] to <16 x i64>
; CHECK: %[[PLACES:.*]] = getelementptr [4 x i8], ptr addrspace(1) %[[ROOT]], <16 x i64> %[[WIDE]]
; CHECK: call <16 x float> @llvm.masked.gather.v16f32.v16p1(<16 x ptr addrspace(1)> %[[PLACES]]
define void @table(ptr addrspace(1) %table, ptr addrspace(1) %out, i32 %vary.index) {
  %wide = zext i32 %vary.index to i64
  %place = getelementptr float, ptr addrspace(1) %table, i64 %wide
  %value = load float, ptr addrspace(1) %place, align 4
  %more = fadd float %value, 1.0
  %to = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float %more, ptr addrspace(1) %to, align 4
  ret void
}
