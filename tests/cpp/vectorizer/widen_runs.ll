; RUN: widen 8 x86-64-v4
; The fourth lane starts the next row of a picture whose rows have 64 elements. So the lanes' elements are in two runs:
; two loads, of which the second only reads the lanes of its run. Device memory can be read beyond the first run.
declare void @simd.mask(i1)
; CHECK-LABEL: define internal void @picture.wide
; CHECK: %[[FIRST:.*]] = load <8 x float>, ptr addrspace(1) %{{.*}}, align 4
; CHECK: %[[NEXT:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 236
; CHECK: call <8 x float> @llvm.masked.load.v8f32.p1(ptr addrspace(1) %[[NEXT]], i32 4, <8 x i1> <i1 false, i1 false, i1 false, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x float> %[[FIRST]])
define void @picture(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %lane) {
  %i = add i32 %lane, 22
  %row = udiv i32 %i, 5
  %column = urem i32 %i, 5
  %row.wide = zext i32 %row to i64
  %column.wide = zext i32 %column to i64
  %at = getelementptr [64 x float], ptr addrspace(1) %in, i64 %row.wide, i64 %column.wide
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %value, ptr addrspace(1) %to
  ret void
}

; An inactive lane does not read memory that may not exist.
; CHECK-LABEL: define internal void @guarded.wide
; CHECK: %[[READS:.*]] = and <8 x i1> %v, <i1 true, i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false>
; CHECK: call <8 x float> @llvm.masked.load.v8f32.p0(ptr %{{.*}}, i32 4, <8 x i1> %[[READS]], <8 x float> poison)
define void @guarded(ptr %table, ptr addrspace(1) %out, i32 %lane, i1 %v) {
  call void @simd.mask(i1 %v)
  %i = add i32 %lane, 22
  %row = udiv i32 %i, 5
  %column = urem i32 %i, 5
  %row.wide = zext i32 %row to i64
  %column.wide = zext i32 %column to i64
  %at = getelementptr [64 x float], ptr %table, i64 %row.wide, i64 %column.wide
  %value = load float, ptr %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %value, ptr addrspace(1) %to
  ret void
}

; More runs than three are read as a gather.
; CHECK-LABEL: define internal void @many.wide
; CHECK-NOT: masked.load
; CHECK: ret void
define void @many(ptr %table, ptr addrspace(1) %out, i32 %lane) {
  %row = udiv i32 %lane, 2
  %column = urem i32 %lane, 2
  %row.wide = zext i32 %row to i64
  %column.wide = zext i32 %column to i64
  %at = getelementptr [64 x float], ptr %table, i64 %row.wide, i64 %column.wide
  %value = load float, ptr %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %value, ptr addrspace(1) %to
  ret void
}
