; RUN: jam-rows 8
; Threads below each other write neighbours: four of them run instruction by instruction. All must be inside, before one
; has effects. What they share is computed once, and what is a known distance further is that distance further.
; CHECK-LABEL: define void @transpose.1(
; CHECK: %[[LAST:.*]] = add nuw nsw i32 %y, 3
; CHECK: %height = load i32
; CHECK: %[[INSIDE:.*]] = icmp ult i32 %[[LAST]], %height
; CHECK-NEXT: call void @simd.inside(i1 %[[INSIDE]])
; CHECK-NOT: simd.inside
; CHECK-NOT: br
; CHECK-COUNT-4: load float
; CHECK: %[[THERE:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4096
; CHECK-NEXT: %[[SECOND:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4{{$|100$}}
; CHECK-NEXT: %[[THIRD:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 {{8$|4104$}}
; CHECK: store float %value, ptr addrspace(1) %[[THERE]]
; CHECK-NEXT: store float %{{.*}}, ptr addrspace(1) %[[SECOND]]
; CHECK-NEXT: store float %{{.*}}, ptr addrspace(1) %[[THIRD]]
; CHECK: ret void
define void @transpose(ptr %group, i32 %x, i32 range(i32 0, 1024) %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group
  %height = load i32, ptr %memory
  %inside = icmp ult i32 %y, %height
  br i1 %inside, label %work, label %done
work:
  %from = addrspacecast ptr %memory to ptr addrspace(1)
  %to = getelementptr i8, ptr addrspace(1) %from, i64 4096
  %row = mul i32 %y, 64
  %column = add i32 %row, %x
  %index.of.column = zext i32 %column to i64
  %at = getelementptr float, ptr addrspace(1) %from, i64 %index.of.column
  %value = load float, ptr addrspace(1) %at
  %wide.x = zext i32 %x to i64
  %wide.y = zext i32 %y to i64
  %start = mul i64 %wide.x, 100
  %place = add i64 %start, %wide.y
  %there = getelementptr float, ptr addrspace(1) %to, i64 %place
  store float %value, ptr addrspace(1) %there
  br label %done
done:
  ret void
}
; Threads behind each other read neighbours.
; CHECK-LABEL: define void @layers.2(
; CHECK: %at = getelementptr float, ptr addrspace(1)
; CHECK-NEXT: getelementptr i8, ptr addrspace(1) %at, i64 4
; CHECK-NEXT: getelementptr i8, ptr addrspace(1) %at, i64 8
; CHECK-NEXT: getelementptr i8, ptr addrspace(1) %at, i64 12
; CHECK-COUNT-4: store float
define void @layers(ptr %group, i32 %x, i32 %y, i32 range(i32 0, 1024) %z, i32 %index, i32 %lane, i1 %active) {
  %memory = load ptr, ptr %group
  %from = addrspacecast ptr %memory to ptr addrspace(1)
  %to = getelementptr i8, ptr addrspace(1) %from, i64 4096
  %wide.x = zext i32 %x to i64
  %wide.z = zext i32 %z to i64
  %start = mul i64 %wide.x, 100
  %place = add i64 %start, %wide.z
  %at = getelementptr float, ptr addrspace(1) %from, i64 %place
  %value = load float, ptr addrspace(1) %at
  %out = mul i32 %z, 64
  %there = add i32 %out, %x
  %index.of.there = zext i32 %there to i64
  %o = getelementptr float, ptr addrspace(1) %to, i64 %index.of.there
  store float %value, ptr addrspace(1) %o
  ret void
}
; Neither loops nor atomic operations may run in turns, and elements beside each other in a row need no columns.
; CHECK-NOT: @loops.
; CHECK-NOT: @counts.
; CHECK-NOT: @copies.
define void @loops(ptr %group, i32 %x, i32 range(i32 0, 1024) %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group
  %to = addrspacecast ptr %memory to ptr addrspace(1)
  %start = mul i32 %x, 100
  %place = add i32 %start, %y
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %layer = mul i32 %i, 100000
  %at = add i32 %place, %layer
  %there = getelementptr float, ptr addrspace(1) %to, i32 %at
  store float 1.0, ptr addrspace(1) %there
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %z
  br i1 %more, label %loop, label %done
done:
  ret void
}
define void @counts(ptr %group, i32 %x, i32 range(i32 0, 1024) %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %memory = load ptr, ptr %group
  %to = addrspacecast ptr %memory to ptr addrspace(1)
  %start = mul i32 %x, 100
  %place = add i32 %start, %y
  %there = getelementptr i32, ptr addrspace(1) %to, i32 %place
  %old = atomicrmw add ptr addrspace(1) %to, i32 1 monotonic
  store i32 %old, ptr addrspace(1) %there
  ret void
}
define void @copies(ptr %group, i32 %x, i32 range(i32 0, 1024) %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %memory = load ptr, ptr %group
  %to = addrspacecast ptr %memory to ptr addrspace(1)
  %start = mul i32 %y, 100
  %place = add i32 %start, %x
  %there = getelementptr float, ptr addrspace(1) %to, i32 %place
  store float 1.0, ptr addrspace(1) %there
  ret void
}
