; RUN: prepare
; A pair that comes around a loop becomes two values.
; CHECK-LABEL: define void @kernel
; CHECK: again:
; CHECK-NOT: phi {
; CHECK: %[[SEEN:.*]] = phi i32 [ %[[FIRST:.*]], %entry ], [ %[[NEXT:.*]], %again
; CHECK-NOT: phi {
; CHECK: add i32 %[[SEEN]], 1
; CHECK: cmpxchg
define void @kernel(ptr addrspace(1) %out) {
entry:
  %first = cmpxchg ptr addrspace(1) %out, i32 0, i32 1 monotonic monotonic, align 4
  br label %again
again:
  %pair = phi { i32, i1 } [ %first, %entry ], [ %next, %again ]
  %seen = extractvalue { i32, i1 } %pair, 0
  %more = add i32 %seen, 1
  %next = cmpxchg ptr addrspace(1) %out, i32 %seen, i32 %more monotonic monotonic, align 4
  %done = extractvalue { i32, i1 } %next, 1
  br i1 %done, label %end, label %again
end:
  ret void
}
