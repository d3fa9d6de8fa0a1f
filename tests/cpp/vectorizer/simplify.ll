; RUN: simplify
; A thread's variables become values, and a short loop over an array is unrolled: in memory, every lane would need its
; copy.
; CHECK-LABEL: define void @array
; CHECK-NOT: alloca
; CHECK-NOT: br
; CHECK: store i32 6, ptr addrspace(1) %out
; CHECK-NEXT: ret void
define void @array(ptr addrspace(1) %out) {
entry:
  %own = alloca [3 x i32]
  br label %fill
fill:
  %i = phi i32 [ 0, %entry ], [ %next, %fill ]
  %at = getelementptr i32, ptr %own, i32 %i
  %next = add i32 %i, 1
  store i32 %next, ptr %at
  %more = icmp ult i32 %next, 3
  br i1 %more, label %fill, label %done
done:
  %second.at = getelementptr i32, ptr %own, i32 1
  %third.at = getelementptr i32, ptr %own, i32 2
  %first = load i32, ptr %own
  %second = load i32, ptr %second.at
  %third = load i32, ptr %third.at
  %both = add i32 %first, %second
  %sum = add i32 %both, %third
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
; Memory that other threads may change between two loads is loaded twice, and floats are added in their order.
; CHECK-LABEL: define void @keeps
; CHECK: load atomic i32
; CHECK: load atomic i32
; CHECK: %[[SUM:.*]] = fadd float %x, 1.0
; CHECK: fadd float %[[SUM]], 2.0
define void @keeps(ptr addrspace(1) %out, ptr addrspace(1) %flag, float %x) {
  %before = load atomic i32, ptr addrspace(1) %flag monotonic, align 4
  %after = load atomic i32, ptr addrspace(1) %flag monotonic, align 4
  %changed = sub i32 %after, %before
  %one = fadd float %x, 1.0
  %sum = fadd float %one, 2.0
  store i32 %changed, ptr addrspace(1) %out
  store float %sum, ptr addrspace(1) %flag
  ret void
}
