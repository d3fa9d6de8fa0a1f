; RUN: linearize,tidy
; A uniform branch stays.
; CHECK-LABEL: define void @kernel
; CHECK: br i1 %same, label %yes, label %join
; CHECK: yes:
; CHECK-NEXT: call void @simd.mask(i1 %active)
define void @kernel(ptr addrspace(1) %out, i1 %same, i1 %active) {
entry:
  br i1 %same, label %yes, label %join
yes:
  store i32 1, ptr addrspace(1) %out
  br label %join
join:
  ret void
}
