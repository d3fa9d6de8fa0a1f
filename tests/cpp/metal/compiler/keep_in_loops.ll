; RUN: keep-in-loops
; A SIMD-group function that a thread calls before it leaves a loop of the source stays in the loop: all ways lead to its
; end, where a switch leaves it.
; CHECK-LABEL: define void @kernel(
; CHECK: [[NEXT:way.*]]: ; preds = %latch
; CHECK-NEXT: br label %reconverge
; CHECK: found:
; CHECK-NEXT: call i32 @__metal_simd_sum_u32(i32 1)
; CHECK: [[LEAVE:way.*]]: ; preds = %found
; CHECK-NEXT: br label %reconverge
; CHECK: for.end: ; preds = %reconverge, %for.cond
; CHECK: reconverge:
; CHECK-NEXT: %way = phi i32 [ 0, %[[NEXT]] ], [ 1, %[[LEAVE]] ]
; CHECK-NEXT: %[[HIDDEN:.*]] = call i32 @metal.way(i32 %way)
; CHECK-NEXT: switch i32 %[[HIDDEN]], label %for.cond [
; CHECK-NEXT: i32 1, label %for.end
define void @kernel(i32 %lane) {
entry:
  %i = alloca i32
  store i32 0, ptr %i
  br label %for.cond
for.cond:
  %now = load i32, ptr %i
  %more = icmp ult i32 %now, 8
  br i1 %more, label %for.body, label %for.end
for.body:
  %wanted = icmp eq i32 %now, %lane
  br i1 %wanted, label %found, label %latch
found:
  %sum = call i32 @__metal_simd_sum_u32(i32 1)
  br label %for.end
latch:
  %next = add i32 %now, 1
  store i32 %next, ptr %i
  br label %for.cond
for.end:
  %after = call i32 @__metal_simd_sum_u32(i32 2)
  ret void
}
; So does a branch out of the loop behind a call that lanes may skip: if it were always taken, the call would leave the loop.
; CHECK-LABEL: define void @skipped(
; CHECK: [[NEXT:way.*]]: ; preds = %for.inc
; CHECK: call i32 @__metal_simd_sum_u32(i32 1)
; CHECK: br i1 %{{.*}}, label %leave, label %for.inc
; CHECK: leave:
; CHECK-NEXT: br label %[[LEAVE:way.*]]
; CHECK: %way = phi i32 [ 0, %[[NEXT]] ], [ 1, %[[LEAVE]] ]
define void @skipped(i32 %lane) {
entry:
  %i = alloca i32
  store i32 0, ptr %i
  br label %for.cond
for.cond:
  %now = load i32, ptr %i
  %skips = icmp ult i32 %now, %lane
  br i1 %skips, label %for.inc, label %rest
rest:
  %sum = call i32 @__metal_simd_sum_u32(i32 1)
  %done = icmp ugt i32 %sum, 0
  br i1 %done, label %for.end, label %for.inc
for.inc:
  %next = add i32 %now, 1
  store i32 %next, ptr %i
  br label %for.cond
for.end:
  ret void
}
; Not if all lanes come by the branch.
; CHECK-LABEL: define void @counted(
; CHECK-NOT: switch
; CHECK: ret void
define void @counted(i32 %lane) {
entry:
  br label %for.cond
for.cond:
  %i = phi i32 [ 0, %entry ], [ %next, %for.inc ]
  %skips = icmp ult i32 %i, %lane
  br i1 %skips, label %for.inc, label %rest
rest:
  %sum = call i32 @__metal_simd_sum_u32(i32 1)
  br label %for.inc
for.inc:
  %next = add i32 %i, 1
  %done = icmp ugt i32 %next, 9
  br i1 %done, label %for.end, label %for.cond
for.end:
  ret void
}
; What comes behind a loop stays there, although this loop has one way out only.
; CHECK-LABEL: define void @behind(
; CHECK-NOT: switch
; CHECK: ret void
define void @behind(i32 %lane) {
entry:
  br label %while.body
while.body:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %wanted = icmp eq i32 %i, %lane
  br i1 %wanted, label %found, label %latch
found:
  br label %while.end
latch:
  %next = add i32 %i, 1
  br label %while.body
while.end:
  %after = call i32 @__metal_simd_sum_u32(i32 2)
  ret void
}
; Loops that are not in the source, such as those over elements of an array, stay as they are.
; CHECK-LABEL: define void @elements(
; CHECK-NOT: switch
; CHECK: ret void
define void @elements(i32 %lane) {
entry:
  br label %arrayctor.loop
arrayctor.loop:
  %i = phi i32 [ 0, %entry ], [ %next, %arrayctor.loop ]
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 8
  br i1 %done, label %arrayctor.cont, label %arrayctor.loop
arrayctor.cont:
  %after = call i32 @__metal_simd_sum_u32(i32 2)
  ret void
}
declare i32 @__metal_simd_sum_u32(i32)
