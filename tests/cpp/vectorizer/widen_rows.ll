; RUN: widen 4
; Lanes far apart that read neighbouring elements read one block each. The blocks are transposed.
; CHECK-LABEL: define internal void @offsets.wide
; CHECK: %[[FIRST:.*]] = load <2 x float>, ptr addrspace(1) %{{.*}}, align 4
; CHECK: %[[THIRD:.*]] = load <2 x float>
; CHECK: %[[EVEN:.*]] = shufflevector <2 x float> %[[FIRST]], <2 x float> %[[THIRD]]
; CHECK: load <2 x float>
; CHECK: load <2 x float>
; CHECK: %[[ODD:.*]] = shufflevector
; CHECK: %[[A:.*]] = shufflevector <4 x float> %[[EVEN]], <4 x float> %[[ODD]], <4 x i32> <i32 0, i32 4, i32 2, i32 6>
; CHECK: %[[B:.*]] = shufflevector <4 x float> %[[EVEN]], <4 x float> %[[ODD]], <4 x i32> <i32 1, i32 5, i32 3, i32 7>
; CHECK: fadd <4 x float> %[[A]], %[[B]]
define void @offsets(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %row = shl i32 %x, 6
  %i = zext i32 %row to i64
  %a.at = getelementptr float, ptr addrspace(1) %in, i64 %i
  %a = load float, ptr addrspace(1) %a.at, align 4
  %b.at = getelementptr i8, ptr addrspace(1) %a.at, i64 4
  %b = load float, ptr addrspace(1) %b.at, align 4
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}

; An index of 32 bits must not wrap around within the row. Lanes that turn out to be neighbours, or in one place, share a
; load.
; CHECK-LABEL: define internal void @indexed.wide
; CHECK: icmp ule <4 x i32> %varying, <i32 -2, i32 -2, i32 -2, i32 -2>
; CHECK: load <2 x float>
; CHECK: load <4 x float>
; CHECK: load float
; CHECK: add <4 x i32> %varying, <i32 1, i32 1, i32 1, i32 1>
; CHECK: call void @simd.load.lanes.4x4.u32.4
define void @indexed(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %varying, i32 %x) {
  %i = zext i32 %varying to i64
  %a.at = getelementptr float, ptr addrspace(1) %in, i64 %i
  %a = load float, ptr addrspace(1) %a.at, align 4
  %next = add i32 %varying, 1
  %j = zext i32 %next to i64
  %b.at = getelementptr float, ptr addrspace(1) %in, i64 %j
  %b = load float, ptr addrspace(1) %b.at, align 4
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}

; Stores are made together where the rows of lanes do not overlap, and otherwise one after the other.
; CHECK-LABEL: define internal void @stores.wide
; CHECK: %[[APART:.*]] = icmp sge i64 %[[STRIDE:.*]], 8
; CHECK-NEXT: br i1 %[[APART]], label %[[YES:.*]], label %[[NO:.*]], !prof
; CHECK: [[YES]]:
; CHECK-COUNT-4: store <2 x float>
; CHECK: [[NO]]:
; CHECK: store <4 x float> %value
define void @stores(ptr addrspace(1) %out, i32 %x, i64 %stride, float %value, float %other) {
  %i = zext i32 %x to i64
  %row = mul i64 %i, %stride
  %a.at = getelementptr float, ptr addrspace(1) %out, i64 %row
  store float %value, ptr addrspace(1) %a.at, align 4
  %b.at = getelementptr i8, ptr addrspace(1) %a.at, i64 4
  store float %other, ptr addrspace(1) %b.at, align 4
  ret void
}

; The store may change what the second load reads.
; CHECK-LABEL: define internal void @written.wide
; CHECK-NOT: <2 x float>
; CHECK: ret void
define void @written(ptr addrspace(1) %out, i32 %x, i64 %stride) {
  %i = zext i32 %x to i64
  %row = mul i64 %i, %stride
  %a.at = getelementptr float, ptr addrspace(1) %out, i64 %row
  %a = load float, ptr addrspace(1) %a.at, align 4
  %b.at = getelementptr i8, ptr addrspace(1) %a.at, i64 4
  store float %a, ptr addrspace(1) %b.at, align 4
  %b = load float, ptr addrspace(1) %b.at, align 4
  store float %b, ptr addrspace(1) %a.at, align 4
  ret void
}

; Inactive lanes may have any address, unless it is near those of active lanes.
; CHECK-LABEL: define internal void @guarded.wide
; CHECK: %[[MASK:.*]] = bitcast <4 x i1> %vmask to i4
; CHECK: %[[ALL:.*]] = icmp eq i4 %[[MASK]], -1
; CHECK: %[[FROZEN:.*]] = freeze i1 %[[ALL]]
; CHECK: and i1 %{{.*}}, %[[FROZEN]]
; CHECK: load <2 x float>
define void @guarded(ptr addrspace(1) %out, i64 %varying, i1 %vmask) {
  call void @simd.mask(i1 %vmask)
  %a.at = getelementptr float, ptr addrspace(1) %out, i64 %varying
  %a = load float, ptr addrspace(1) %a.at, align 4
  %b.at = getelementptr i8, ptr addrspace(1) %a.at, i64 4
  %b = load float, ptr addrspace(1) %b.at, align 4
  %sum = fadd float %a, %b
  store float %sum, ptr addrspace(1) %a.at, align 4
  ret void
}
declare void @simd.mask(i1)

; Indices that share a term are not neighbours.
; CHECK-LABEL: define internal void @sums.wide
; CHECK-NOT: <2 x float>
; CHECK: ret void
define void @sums(ptr addrspace(1) %in, i32 %shared, i32 %varying, i32 %vother, i32 %x) {
  %i = add i32 %shared, %varying
  %i.wide = zext i32 %i to i64
  %a.at = getelementptr float, ptr addrspace(1) %in, i64 %i.wide
  %a = load float, ptr addrspace(1) %a.at, align 4
  %j = add i32 %shared, %vother
  %j.wide = zext i32 %j to i64
  %b.at = getelementptr float, ptr addrspace(1) %in, i64 %j.wide
  %b = load float, ptr addrspace(1) %b.at, align 4
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %in, i32 %x
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}
