; RUN: widen 16 x86-64-v4
; If several indices of an array in threadgroup memory vary, the bytes before the lanes' elements are counted in 32 bits.
; What is the same in all lanes is part of the array's address.
; CHECK-LABEL: define internal void @tile.wide
; CHECK: %[[ROW:.*]] = trunc <16 x i64> %vary.row to <16 x i32>
; CHECK: %[[ROWS:.*]] = mul <16 x i32> %[[ROW]], <i32 76, i32 76,
; CHECK: %[[COLUMN:.*]] = trunc <16 x i64> %vary.column to <16 x i32>
; CHECK: %[[COLUMNS:.*]] = mul <16 x i32> %[[COLUMN]], <i32 4, i32 4,
; CHECK: %[[BYTES:.*]] = add <16 x i32> %[[ROWS]], %[[COLUMNS]]
; CHECK: %[[ROOT:.*]] = getelementptr [2 x [18 x [19 x float]]], ptr addrspace(3) %tile, i64 0, i64 %part, i64 0, i64 0
; CHECK: either.no:
; CHECK: %[[WIDE:.*]] = sext <16 x i32> %[[BYTES]] to <16 x i64>
; CHECK: %[[PLACES:.*]] = getelementptr [1 x i8], ptr addrspace(3) %[[ROOT]], <16 x i64> %[[WIDE]]
; CHECK: call void @llvm.masked.scatter.v16f32.v16p3(<16 x float> %vary.value, <16 x ptr addrspace(3)> %[[PLACES]]
define void @tile(ptr addrspace(3) %tile, i64 %part, i64 %vary.row, i64 %vary.column, float %vary.value) {
  %at = getelementptr [2 x [18 x [19 x float]]], ptr addrspace(3) %tile, i64 0, i64 %part, i64 %vary.row, i64 %vary.column
  store float %vary.value, ptr addrspace(3) %at
  ret void
}
; Device memory is larger.
; CHECK-LABEL: define internal void @buffer.wide
; CHECK: getelementptr [18 x [19 x float]], ptr addrspace(1) %buffer, i64 0, <16 x i64> %{{.*}}, <16 x i64> %{{.*}}
define void @buffer(ptr addrspace(1) %buffer, i64 %vary.row, i64 %vary.column, float %vary.value) {
  %at = getelementptr [18 x [19 x float]], ptr addrspace(1) %buffer, i64 0, i64 %vary.row, i64 %vary.column
  store float %vary.value, ptr addrspace(1) %at
  ret void
}
