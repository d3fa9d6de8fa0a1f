; RUN: prepare
; Switches become two-way branches, vectors their elements, and there is a single return.
; CHECK-LABEL: define void @kernel
; CHECK:   %[[SECOND:.*]] = extractelement <2 x float> %pair, i64 1
; CHECK:   %[[FIRST:.*]] = extractelement <2 x float> %pair, i64 0
; CHECK-NOT: switch
; CHECK: %[[LOW:.*]] = icmp slt i32 %which, 1
; CHECK: br i1 %[[LOW]]
; CHECK: zero:
; CHECK: store float %[[FIRST]], ptr addrspace(1) %out
; CHECK: store float %[[SECOND]]
; CHECK: other:
; CHECK: br label %[[END:.*]]
; CHECK: [[END]]:
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %out, i32 %which, <2 x float> %pair) {
entry:
  switch i32 %which, label %other [
    i32 0, label %zero
    i32 1, label %one
  ]
zero:
  store <2 x float> %pair, ptr addrspace(1) %out, align 8
  ret void
one:
  ret void
other:
  unreachable
}
