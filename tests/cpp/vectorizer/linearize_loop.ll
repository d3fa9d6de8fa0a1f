; RUN: linearize,tidy
; A divergent loop runs until no lane is left in it. Lanes that have left it keep their values.
; CHECK-LABEL: define i32 @kernel
; CHECK: loop:
; CHECK: %[[BEFORE:.*]] = phi i32 [ undef, %entry ], [ %[[LAST:.*]], %loop ]
; CHECK: %[[LIVE:.*]] = phi i1 [ %active, %entry ], [ %[[STAY:.*]], %loop ]
; CHECK: call void @simd.mask(i1 %[[LIVE]])
; CHECK: %[[STAY]] = select i1 %[[LIVE]], i1 %more, i1 false
; CHECK: %[[NOT:.*]] = xor i1 %more, true
; CHECK: %[[LEAVE:.*]] = select i1 %[[LIVE]], i1 %[[NOT]], i1 false
; CHECK: %[[LAST]] = select i1 %[[LEAVE]], i32 %next, i32 %[[BEFORE]]
; CHECK: %[[ANY:.*]] = call i1 @simd.any(i1 %[[STAY]])
; CHECK: br i1 %[[ANY]], label %loop, label %done
; CHECK: ret i32 %[[LAST]]
define i32 @kernel(ptr addrspace(1) %out, i32 %vary, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store i32 %i, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %vary
  br i1 %more, label %loop, label %done
done:
  %last = phi i32 [ %next, %loop ]
  br label %after
after:
  ret i32 %last
}
