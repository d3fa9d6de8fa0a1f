; RUN: optimize-scalar
; Scalar code is inlined and simplified, but not vectorised: vector code is compared with it, sum by sum.
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel_entry
; CHECK-NOT: {{<[0-9]+ x float>}}
; CHECK: load float
; CHECK: fadd float
; CHECK-NOT: {{<[0-9]+ x float>}}
; CHECK-LABEL: define void @waits
define internal float @more(float %x) alwaysinline {
  %sum = fadd float %x, 1.0
  ret float %sum
}
define void @kernel_entry(ptr %to, i64 %count) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %to, i64 %i
  %value = load float, ptr %at, align 4
  %more = call float @more(float %value)
  store float %more, ptr %at, align 4
  %next = add i64 %i, 1
  %again = icmp ne i64 %next, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}
; A barrier stays in its place, and memory is loaded again after it.
; CHECK: load i32, ptr %memory
; CHECK: call void @__metal_barrier
; CHECK: load i32, ptr %memory
define void @waits(ptr %memory, ptr %out) {
  %before = load i32, ptr %memory
  call void @__metal_barrier(i32 1, i32 2)
  %after = load i32, ptr %memory
  %changed = sub i32 %after, %before
  store i32 %changed, ptr %out
  ret void
}
declare void @__metal_barrier(i32, i32) convergent nounwind
attributes #0 = { "target-cpu"="x86-64-v3" }
