; RUN: optimize
; Functions are inlined into the entry point, unused code is removed, and each value is computed once.
; CHECK-NOT: define internal void @gang
; CHECK-NOT: define internal void @unused
; CHECK-LABEL: define void @kernel_entry
; CHECK: fmul <4 x float> %x, %x
; CHECK-NOT: fmul
; CHECK: store <4 x float>
; CHECK: ret void
define internal void @gang(ptr %out, <4 x float> %x) alwaysinline {
  %square = fmul <4 x float> %x, %x
  %again = fmul <4 x float> %x, %x
  %sum = fadd <4 x float> %square, %again
  store <4 x float> %sum, ptr %out, align 4
  ret void
}
define internal void @unused(ptr %out) {
  ret void
}
define void @kernel_entry(ptr %out, <4 x float> %x) {
  call void @gang(ptr %out, <4 x float> %x)
  ret void
}
; Nothing is vectorised again: a loop over gangs stays one. Functions that are called stay, too.
; CHECK-LABEL: define void @loop
; CHECK-NOT: {{<[0-9]+ x float>}}
; CHECK: loop:
; CHECK: load float
; CHECK-NEXT: fadd float
; CHECK: call void @shared(
; CHECK: br i1
; CHECK-LABEL: define internal void @shared
define void @loop(ptr %to, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %to, i64 %i
  %value = load float, ptr %at, align 4
  %more = fadd float %value, 1.0
  store float %more, ptr %at, align 4
  call void @shared(ptr %at)
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}
define internal void @shared(ptr %at) noinline {
  store volatile i32 0, ptr %at
  ret void
}
