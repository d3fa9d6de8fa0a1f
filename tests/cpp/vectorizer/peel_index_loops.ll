; RUN: peel-index-loops
; The first division of a thread's index is peeled: its quotient differs between lanes, so later ones would count as
; varying.
; CHECK-LABEL: define void @index
; CHECK: urem i32 %x, 7
; CHECK: udiv i32 %x, 7
; CHECK: loop:
; CHECK: %[[REST:.*]] = phi i32
; CHECK: udiv i32 %[[REST]], 7
define void @index(ptr addrspace(1) %out, i32 %x) {
entry:
  br label %loop
loop:
  %rest = phi i32 [ %x, %entry ], [ %quotient, %loop ]
  %digit = urem i32 %rest, 7
  store i32 %digit, ptr addrspace(1) %out
  %quotient = udiv i32 %rest, 7
  %more = icmp ne i32 %quotient, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}
; For other values, peeling would only duplicate code.
; CHECK-LABEL: define void @uniform
; CHECK: entry:
; CHECK-NOT: udiv
; CHECK: loop:
; CHECK: udiv i32 %rest, 7
; CHECK-NOT: udiv
; CHECK-LABEL: define void @other_loop
define void @uniform(ptr addrspace(1) %out, i32 %number) {
entry:
  br label %loop
loop:
  %rest = phi i32 [ %number, %entry ], [ %quotient, %loop ]
  %digit = urem i32 %rest, 7
  store i32 %digit, ptr addrspace(1) %out
  %quotient = udiv i32 %rest, 7
  %more = icmp ne i32 %quotient, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK: entry:
; CHECK-NOT: add
; CHECK: loop:
; CHECK: add i32 %k, 8
; CHECK-NOT: add
; CHECK: ret void
define void @other_loop(ptr addrspace(1) %out, i32 %x) {
entry:
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %next, %loop ]
  store i32 %k, ptr addrspace(1) %out
  %next = add i32 %k, 8
  %more = icmp ult i32 %next, 100
  br i1 %more, label %loop, label %done
done:
  ret void
}
