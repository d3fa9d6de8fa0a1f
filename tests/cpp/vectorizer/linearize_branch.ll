; RUN: linearize,tidy
; Both sides of a divergent branch follow each other under masks. The value at the join is selected.
; CHECK-LABEL: define i32 @kernel
; CHECK: %[[YES:.*]] = select i1 %active, i1 %vary, i1 false
; CHECK: %[[NOT:.*]] = xor i1 %vary, true
; CHECK: %[[NO:.*]] = select i1 %active, i1 %[[NOT]], i1 false
; CHECK: %[[ANY_YES:.*]] = call i1 @simd.any(i1 %[[YES]])
; CHECK: br i1 %[[ANY_YES]], label %yes, label %yes.done
; CHECK: yes:
; CHECK: call void @simd.mask(i1 %[[YES]])
; CHECK: %[[VALUE:.*]] = select i1 %[[YES]], i32 10, i32 20
; CHECK: %[[RESULT:.*]] = phi i32 [ %[[VALUE]], %yes ], [ 20, %{{.*}} ]
; CHECK: %[[ANY_NO:.*]] = call i1 @simd.any(i1 %[[NO]])
; CHECK: br i1 %[[ANY_NO]], label %no, label %no.done
; CHECK: no:
; CHECK: call void @simd.mask(i1 %[[NO]])
; CHECK: br label %yes.guard
; CHECK: ret i32 %[[RESULT]]
define i32 @kernel(ptr addrspace(1) %out, i1 %vary, i1 %active) {
entry:
  br i1 %vary, label %yes, label %no
yes:
  store i32 1, ptr addrspace(1) %out
  br label %join
no:
  store i32 2, ptr addrspace(1) %out
  br label %join
join:
  %value = phi i32 [ 10, %yes ], [ 20, %no ]
  ret i32 %value
}

; A block that the author marked as unlikely stays unlikely for the whole gang.
; CHECK-LABEL: define void @unlikely
; CHECK: br i1 %{{.*}}, label %rare, label %rare.done, !prof ![[UNLIKELY:.*]]
; CHECK: ![[UNLIKELY]] = !{!"branch_weights", i32 1, i32 1048575}
define void @unlikely(ptr addrspace(1) %out, i1 %vary, i1 %active) {
entry:
  br i1 %vary, label %rare, label %join, !prof !0
rare:
  store i32 1, ptr addrspace(1) %out
  br label %join
join:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 2000}
