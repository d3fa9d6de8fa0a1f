; RUN: regions
; What must be linearised, the innermost first: a divergent branch and a divergent loop.
; CHECK-NOT: entry
; CHECK: branch loop
; CHECK-NEXT: loop loop to done
; CHECK-NEXT: ;
define void @kernel(ptr addrspace(1) %out, i32 %vary, i32 %same) {
entry:
  %uniform = icmp eq i32 %same, 0
  br i1 %uniform, label %loop, label %exit
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %odd = trunc i32 %vary to i1
  br i1 %odd, label %then, label %join
then:
  store i32 %i, ptr addrspace(1) %out
  br label %join
join:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %vary
  br i1 %more, label %loop, label %done
done:
  br label %exit
exit:
  ret void
}
