; RUN: linearize,tidy
; Flags that only hold behind the branch are removed. A block with a division runs only if a lane is active there, and
; so does a call that is not known to be harmless.
declare i32 @simd.coherent.udiv(i32, i32) memory(none)
declare i32 @llvm.cttz.i32(i32, i1)
; CHECK-LABEL: define i32 @flags
; CHECK: br i1 %{{.*}}, label %then, label %then.done
; CHECK: then:
; CHECK-NEXT: call void @simd.mask(i1
; CHECK-NEXT: %sum = add i32 %a, %b
; CHECK-NEXT: %zeros = call i32 @llvm.cttz.i32(i32 %sum, i1 false)
; CHECK-NEXT: %quotient = udiv i32 %sum, %b
; CHECK-NEXT: %product = fmul nnan float
define i32 @flags(i32 %a, i32 %b, float %f, ptr addrspace(1) %out, i1 %vary, i1 %active) {
entry:
  br i1 %vary, label %then, label %join
then:
  %sum = add nuw nsw i32 %a, %b
  %zeros = call i32 @llvm.cttz.i32(i32 %sum, i1 true)
  %quotient = udiv exact i32 %sum, %b
  %product = fmul nnan float %f, %f
  store float %product, ptr addrspace(1) %out
  %value = add i32 %zeros, %quotient
  br label %join
join:
  %result = phi i32 [ %value, %then ], [ 0, %entry ]
  ret i32 %result
}
; CHECK-LABEL: define i32 @together
; CHECK: br i1 %{{.*}}, label %then, label %then.done
; CHECK: then:
; CHECK-NEXT: call void @simd.mask(i1
; CHECK-NEXT: %quotient = call i32 @simd.coherent.udiv
define i32 @together(i32 %a, i32 %b, i1 %vary, i1 %active) {
entry:
  br i1 %vary, label %then, label %join
then:
  %quotient = call i32 @simd.coherent.udiv(i32 %a, i32 %b)
  br label %join
join:
  %result = phi i32 [ %quotient, %then ], [ 0, %entry ]
  ret i32 %result
}
