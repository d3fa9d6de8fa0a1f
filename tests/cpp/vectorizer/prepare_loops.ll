; RUN: prepare
; Endless loops get an exit, so that lanes can reconverge. Loops with several exits get a single one.
; CHECK-LABEL: define void @endless
; CHECK: loop:
; CHECK: %[[NEVER:.*]] = call i1 @simd.never()
; CHECK: br i1 %[[NEVER]], label %never, label %forever
; CHECK: never:
define void @endless(ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  store volatile i32 1, ptr addrspace(1) %out
  br label %loop
}
; Lanes that skip the only way out go on with the next iteration. Its end gets an exit that no lane takes, as they do
; not reconverge in `rest`.
; CHECK-LABEL: define i32 @skipped
; CHECK: br i1 %skips, label %[[LATCH:.*]], label %rest
; CHECK: br i1 %done, label %[[EXIT:end.*]], label %[[LATCH]]
; CHECK: iteration.end:
; CHECK-NEXT: %[[NO:.*]] = call i1 @simd.never()
; CHECK-NEXT: br i1 %[[NO]], label %[[EXIT]], label %loop
; CHECK: [[EXIT]]:
; CHECK-NEXT: phi i32 [ %value, %rest ], [ poison, %iteration.end ]
define i32 @skipped(ptr addrspace(1) %in, i32 %limit) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %skips = icmp ult i32 %i, %limit
  br i1 %skips, label %latch, label %rest
rest:
  %at = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %value = load i32, ptr addrspace(1) %at
  %done = icmp eq i32 %value, 0
  br i1 %done, label %end, label %latch
latch:
  %next = add i32 %i, 1
  br label %loop
end:
  ret i32 %value
}
; CHECK-LABEL: define i32 @search
; CHECK: br i1 %found, label %[[EXIT:.*]], label %latch
; CHECK: br i1 %more, label %loop, label %[[EXIT]]
; CHECK: ret i32
; CHECK: [[EXIT]]:
; CHECK: phi i32 [ %i, %loop ], [ %i, %latch ]
; CHECK: %[[LEFT:.*]] = phi i1 [ true, %loop ], [ false, %latch ]
; CHECK: br i1 %[[LEFT]], label %yes, label %no
define i32 @search(ptr addrspace(1) %in, i32 %wanted) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %value = load i32, ptr addrspace(1) %at
  %found = icmp eq i32 %value, %wanted
  br i1 %found, label %yes, label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 100
  br i1 %more, label %loop, label %no
yes:
  ret i32 %i
no:
  ret i32 -1
}
