; RUN: loops-of-gangs 8
; Each of four gangs, a row each, fills its part of a tile in a loop from its first thread on. It gets a copy, in which
; this thread's index is a constant. The first two gangs have two elements a thread, or less; the others one.
; CHECK-LABEL: define void @fills(
; CHECK-SAME: i32 range(i32 0, 8) %lane
; CHECK: entry:
; CHECK: %[[GANG:.*]] = lshr i32 %index, 3
; CHECK: switch i32 %[[GANG]], label %[[LAST:.*]] [
; CHECK: i32 0, label %[[FIRST:.*]]
; CHECK: i32 1, label %[[SECOND:.*]]
; CHECK: [[FIRST]]:
; CHECK: add nuw nsw i32 %lane, 0
; CHECK: phi i32 [ %{{.*}}, %[[FIRST]] ]
; CHECK: br i1 %{{.*}}, !llvm.loop
; CHECK: [[SECOND]]:
; CHECK: add nuw nsw i32 %lane, 8
; CHECK: [[LAST]]:
; CHECK: add nuw nsw i32 %lane, 24
; CHECK: exit:
; CHECK: phi i32 [ %{{.*}} ], [ %{{.*}} ], [ %{{.*}} ], [ %{{.*}} ]
define void @fills(ptr %group, i32 range(i32 0, 8) %x, i32 range(i32 0, 4) %y, i32 %z, i32 range(i32 0, 32) %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ %index, %entry ], [ %next, %loop ]
  %row = udiv i32 %i, 6
  %at = getelementptr i32, ptr addrspace(3) %tile, i32 %i
  store i32 %row, ptr addrspace(3) %at
  %next = add nuw nsw i32 %i, 32
  %more = icmp ult i32 %next, 44
  br i1 %more, label %loop, label %exit
exit:
  %out = getelementptr i32, ptr %group, i32 %index
  store i32 %row, ptr %out
  ret void
}

; The number of iterations is the same for all gangs: there is nothing to gain.
; CHECK-LABEL: define void @alike(
; CHECK-NOT: switch
; CHECK: ret void
define void @alike(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [8 x i32], ptr %group, i32 %index, i32 %i
  store i32 %i, ptr %at
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 8
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; A loop with many iterations stays as it is, and so does one with a barrier.
; CHECK-LABEL: define void @long(
; CHECK-NOT: switch
; CHECK: ret void
define void @long(ptr %group, i32 %x, i32 %y, i32 %z, i32 range(i32 0, 32) %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %index, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %group, i32 %i
  store i32 %i, ptr %at
  %next = add nuw nsw i32 %i, 32
  %more = icmp ult i32 %next, 1000
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

declare void @simd.barrier()
; CHECK-LABEL: define void @waits(
; CHECK-NOT: switch
; CHECK: ret void
define void @waits(ptr %group, i32 %x, i32 %y, i32 %z, i32 range(i32 0, 32) %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %index, %entry ], [ %next, %loop ]
  call void @simd.barrier()
  %next = add nuw nsw i32 %i, 32
  %more = icmp ult i32 %next, 44
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
