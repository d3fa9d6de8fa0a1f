; RUN: redundant-selects
; The inner mask has no lane that the outer one does not have, so the value is the old one outside of the outer mask already.
; CHECK-LABEL: define i32 @nested
; CHECK: %changed = select i1 %inner, i32 %new, i32 %old
; CHECK: %after = phi i32 [ %changed, %both ], [ %old, %yes ]
; CHECK-NOT: select
; CHECK: ret i32 %after
define i32 @nested(i32 %old, i32 %new, i1 %outer, i1 %condition, i1 %any) {
yes:
  %inner = select i1 %outer, i1 %condition, i1 false
  br i1 %any, label %both, label %join
both:
  %changed = select i1 %inner, i32 %new, i32 %old
  br label %join
join:
  %after = phi i32 [ %changed, %both ], [ %old, %yes ]
  %joined = select i1 %outer, i32 %after, i32 %old
  ret i32 %joined
}

; Masks of several paths.
; CHECK-LABEL: define i32 @paths
; CHECK: %either = or i1 %first, %second
; CHECK: %changed = select i1 %either, i32 %new, i32 %old
; CHECK-NEXT: ret i32 %changed
define i32 @paths(i32 %old, i32 %new, i1 %outer, i1 %a, i1 %b) {
  %first = select i1 %outer, i1 %a, i1 false
  %second = select i1 %outer, i1 %b, i1 false
  %either = or i1 %first, %second
  %inside = select i1 %outer, i1 %either, i1 false
  %changed = select i1 %inside, i32 %new, i32 %old
  %joined = select i1 %outer, i32 %changed, i32 %old
  ret i32 %joined
}

; A loop that runs under a mask of the code before it, and what it carries.
; CHECK-LABEL: define i32 @loop
; CHECK: %next = select i1 %live, i32 %more, i32 %sum
; CHECK-NOT: select i1 %mask
; CHECK: ret i32 %next
define i32 @loop(i32 %old, i1 %mask, i32 %limit, i1 %any) {
entry:
  br label %loop
loop:
  %sum = phi i32 [ %old, %entry ], [ %next, %loop ]
  %live = phi i1 [ %mask, %entry ], [ %on, %loop ]
  %more = add i32 %sum, 1
  %next = select i1 %live, i32 %more, i32 %sum
  %below = icmp ult i32 %next, %limit
  %on = select i1 %live, i1 %below, i1 false
  br i1 %any, label %loop, label %exit
exit:
  %joined = select i1 %mask, i32 %next, i32 %old
  ret i32 %joined
}

; Here the mask is another one in each iteration, and the value may be of an earlier one.
; CHECK-LABEL: define i32 @earlier
; CHECK: %joined = select i1 %mask, i32 %sum, i32 %old
define i32 @earlier(i32 %old, ptr %masks, i1 %any) {
entry:
  br label %loop
loop:
  %sum = phi i32 [ %old, %entry ], [ %next, %loop ]
  %mask = load i1, ptr %masks
  %joined = select i1 %mask, i32 %sum, i32 %old
  %more = add i32 %joined, 1
  %next = select i1 %mask, i32 %more, i32 %old
  br i1 %any, label %loop, label %exit
exit:
  ret i32 %joined
}

; The inner condition may be true, or poison, where the outer one is false.
; CHECK-LABEL: define i32 @others
; CHECK: %joined = select i1 %outer, i32 %changed, i32 %old
; CHECK: %kept = select i1 %outer, i32 %poisoned, i32 %old
define i32 @others(i32 %old, i32 %new, i1 %outer, i1 %condition) {
  %changed = select i1 %condition, i32 %new, i32 %old
  %joined = select i1 %outer, i32 %changed, i32 %old
  %both = and i1 %condition, %outer
  %poisoned = select i1 %both, i32 %new, i32 %old
  %kept = select i1 %outer, i32 %poisoned, i32 %old
  %result = add i32 %joined, %kept
  ret i32 %result
}
