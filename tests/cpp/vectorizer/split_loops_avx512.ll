; RUN: split-loops 32 x86-64-v4
; The sums take 16 of 32 registers, which have 512 bits on all processors with AVX-512, so the loop stays.
; CHECK-LABEL: define void @sums
; CHECK-NOT: <16 x float>
; CHECK-NOT: <8 x float>
; CHECK: ret void
define void @sums(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %0 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum0, %loop ]
  %1 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum1, %loop ]
  %2 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum2, %loop ]
  %3 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum3, %loop ]
  %4 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum4, %loop ]
  %5 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum5, %loop ]
  %6 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum6, %loop ]
  %7 = phi <32 x float> [ zeroinitializer, %entry ], [ %sum7, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = load <32 x float>, ptr %p, align 4
  %sum0 = fadd <32 x float> %0, %x
  %sum1 = fadd <32 x float> %1, %sum0
  %sum2 = fadd <32 x float> %2, %sum1
  %sum3 = fadd <32 x float> %3, %sum2
  %sum4 = fadd <32 x float> %4, %sum3
  %sum5 = fadd <32 x float> %5, %sum4
  %sum6 = fadd <32 x float> %6, %sum5
  %sum7 = fadd <32 x float> %7, %sum6
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, 100
  br i1 %end, label %exit, label %loop
exit:
  store <32 x float> %sum7, ptr %q, align 4
  ret void
}
