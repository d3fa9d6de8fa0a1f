; RUN: split-loops 32 x86-64-v3
; Loops that are not split. If one writes memory, the next part would read what it wrote.
; CHECK-LABEL: define void @writes
; CHECK-NOT: <16 x float>
; CHECK: ret void
define void @writes(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = load <32 x float>, ptr %p, align 4
  %sum0 = fadd <32 x float> %0, %x
  %sum1 = fadd <32 x float> %1, %sum0
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %3, %sum2
  store <32 x float> %sum3, ptr %p, align 4
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum3, ptr %q, align 4
  ret void
}

; Lanes that use other lanes' values need these in the same iteration.
; CHECK-LABEL: define void @shuffles
; CHECK-NOT: <16 x float>
; CHECK: ret void
define void @shuffles(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = load <32 x float>, ptr %p, align 4
  %turned = shufflevector <32 x float> %3, <32 x float> poison, <32 x i32> <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 0>
  %sum0 = fadd <32 x float> %0, %x
  %sum1 = fadd <32 x float> %1, %sum0
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %turned, %sum2
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum3, ptr %q, align 4
  ret void
}

; Vectors of another length cannot be split at the same lanes.
; CHECK-LABEL: define void @lengths
; CHECK-NOT: <16 x float>
; CHECK: ret void
define void @lengths(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %pairs = load <16 x i64>, ptr %p, align 4
  %x = bitcast <16 x i64> %pairs to <32 x float>
  %sum0 = fadd <32 x float> %0, %x
  %sum1 = fadd <32 x float> %1, %sum0
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %3, %sum2
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum3, ptr %q, align 4
  ret void
}

; Vectors that fit into the registers need no split.
; CHECK-LABEL: define void @fits
; CHECK-NOT: <16 x float>
; CHECK: ret void
define void @fits(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = load <32 x float>, ptr %p, align 4
  %sum0 = fadd <32 x float> %0, %x
  %sum1 = fadd <32 x float> %1, %sum0
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum1, ptr %q, align 4
  ret void
}
