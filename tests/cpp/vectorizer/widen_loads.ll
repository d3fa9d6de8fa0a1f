; RUN: widen 4
; The shape of an address decides how memory is read.
; CHECK-LABEL: define internal void @uniform.wide
; CHECK: load float, ptr addrspace(1)
; CHECK: store float
define void @uniform(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %same) {
  %at = getelementptr float, ptr addrspace(1) %in, i64 %same
  %value = load float, ptr addrspace(1) %at
  store float %value, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define internal void @contiguous.wide
; CHECK: load <4 x float>, ptr addrspace(1)
; CHECK-NOT: shufflevector
; CHECK: store <4 x float>
define void @contiguous(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %at = getelementptr float, ptr addrspace(1) %in, i32 %x
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; CHECK-LABEL: define internal void @strided.wide
; CHECK: %[[BLOCK:.*]] = load <8 x float>, ptr addrspace(1)
; CHECK: shufflevector <8 x float> %[[BLOCK]], <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
define void @strided(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %twice = shl i32 %x, 1
  %at = getelementptr float, ptr addrspace(1) %in, i32 %twice
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; CHECK-LABEL: define internal void @offsets.wide
; CHECK: %[[BLOCK:.*]] = load <4 x float>, ptr addrspace(1)
; CHECK: shufflevector <4 x float> %[[BLOCK]], <4 x float> poison, <4 x i32> <i32 0, i32 0, i32 1, i32 1>
define void @offsets(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %lane) {
  %pair = lshr i32 %lane, 1
  %at = getelementptr float, ptr addrspace(1) %in, i32 %pair
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %value, ptr addrspace(1) %to
  ret void
}
; Neighbouring loads read the same blocks, addressed from one root.
; CHECK-LABEL: define internal void @neighbours.wide
; CHECK: %[[ROOT:.*]] = getelementptr float, ptr addrspace(1) %in, i32 0
; CHECK: %[[FIRST:.*]] = getelementptr i8, ptr addrspace(1) %[[ROOT]], i64 0
; CHECK: load <4 x float>, ptr addrspace(1) %[[FIRST]]
; CHECK: %[[SECOND:.*]] = getelementptr i8, ptr addrspace(1) %[[ROOT]], i64 0
; CHECK: load <4 x float>, ptr addrspace(1) %[[SECOND]]
define void @neighbours(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %lane) {
  %pair = lshr i32 %lane, 1
  %at = getelementptr float, ptr addrspace(1) %in, i32 %pair
  %next = getelementptr i8, ptr addrspace(1) %at, i64 4
  %a = load float, ptr addrspace(1) %at
  %b = load float, ptr addrspace(1) %next
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %sum, ptr addrspace(1) %to
  ret void
}
; Lanes whose elements follow each other are read together, and no more than they: nothing need be readable around them.
; CHECK-LABEL: define internal void @runs.wide
; CHECK-NOT: gather
; CHECK: %[[LOW:.*]] = load <2 x i64>
; CHECK: %[[HIGH:.*]] = load <2 x i64>
; CHECK: shufflevector <2 x i64> %[[LOW]], <2 x i64> %[[HIGH]], <4 x i32> <i32 0, i32 1, i32 2, i32 3>
; CHECK: store <2 x i64>
; CHECK: store <2 x i64>
define void @runs(ptr %in, ptr addrspace(1) %out, i32 %lane) {
  %pair = lshr i32 %lane, 1
  %one = and i32 %lane, 1
  %apart = mul i32 %pair, 5
  %index = add i32 %apart, %one
  %at = getelementptr i64, ptr %in, i32 %index
  %value = load i64, ptr %at
  %to = getelementptr i64, ptr addrspace(1) %out, i32 %index
  store i64 %value, ptr addrspace(1) %to
  ret void
}
