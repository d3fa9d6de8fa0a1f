; RUN: known-counts
; A loop over the rows of a tile from the thread's own one: with eight rows of threads, each has four.
; CHECK-LABEL: define void @rows(
; CHECK: %counter = phi i32 [ 0, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK: %[[MORE:.*]] = icmp ne i32 %counter, 3
; CHECK: %[[NEXT]] = add nuw i32 %counter, 1
; CHECK: br i1 %[[MORE]], label %loop, label %exit
define void @rows(ptr %tile, i32 range(i32 0, 8) %y) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %y, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %tile, i32 %i
  store volatile float 1.0, ptr %at
  %next = add nuw nsw i32 %i, 8
  %more = icmp ult i32 %i, 24
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; With a ninth, some have only three: the loop stays as it is.
; CHECK-LABEL: define void @ragged(
; CHECK-NOT: counter
; CHECK: ret void
define void @ragged(ptr %tile, i32 range(i32 0, 9) %y) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %y, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %tile, i32 %i
  store volatile float 1.0, ptr %at
  %next = add nuw nsw i32 %i, 8
  %more = icmp ult i32 %i, 24
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
