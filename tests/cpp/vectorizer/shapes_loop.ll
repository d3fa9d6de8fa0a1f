; RUN: shapes 4
; A value that is uniform in a divergent loop varies after it.
; CHECK: %i: uniform
; CHECK: %next: uniform
; CHECK: %more: varying
; CHECK: loop: divergent
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
