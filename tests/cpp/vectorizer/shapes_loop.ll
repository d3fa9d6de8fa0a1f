; RUN: shapes 4
; What comes out of a loop that lanes leave at different times differs, though it is uniform inside.
; CHECK: %i: uniform
; CHECK: %next: uniform
; CHECK: %more: varying
; CHECK: loop: lanes part
; CHECK: %last: varying
define i32 @kernel(i32 %vary) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %vary
  br i1 %more, label %loop, label %done
done:
  %last = phi i32 [ %next, %loop ]
  ret i32 %last
}
