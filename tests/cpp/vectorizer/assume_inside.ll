; RUN: assume-inside
; A speculative body for gangs in which no lane is at an edge. A run of each lane ends early.
; CHECK-LABEL: define void @run.1
; CHECK: %[[ONE:.*]] = icmp ult i32 %first, %size
; CHECK-NEXT: call void @simd.inside(i1 %[[ONE]])
; CHECK: %[[SECOND:.*]] = or {{.*}}i32 %first, 1
; CHECK: %[[BOTH:.*]] = icmp ult i32 %[[SECOND]], %size
; CHECK-NEXT: call void @simd.inside(i1 %[[BOTH]])
; CHECK-NOT: br
; CHECK: store float 1.0
; CHECK: store float 2.0
; CHECK-NEXT: ret void
define void @run(ptr addrspace(1) %out, i32 %x, i32 %size) {
entry:
  %first = shl i32 %x, 1
  %one = icmp ult i32 %first, %size
  br i1 %one, label %store, label %next
store:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  store float 1.0, ptr addrspace(1) %at
  br label %next
next:
  %second = add nuw nsw i32 %first, 1
  %both = icmp ult i32 %second, %size
  br i1 %both, label %more, label %done
more:
  %there = getelementptr float, ptr addrspace(1) %out, i32 %second
  store float 2.0, ptr addrspace(1) %there
  br label %done
done:
  ret void
}
; The limits of an index. The first one decides what the second one is of.
; CHECK-LABEL: define void @clamped.2
; CHECK: %[[LOW:.*]] = icmp sg{{[te]}} i32 %left, {{0|-1}}
; CHECK: call void @simd.inside(i1 %[[LOW]])
; CHECK: %[[HIGH:.*]] = icmp sle i32 %left, %size
; CHECK: call void @simd.inside(i1 %[[HIGH]])
; CHECK-NOT: call i32 @llvm
; CHECK: store float
define void @clamped(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %left = sub i32 %x, 1
  %low = call i32 @llvm.smax.i32(i32 %left, i32 0)
  %high = call i32 @llvm.smin.i32(i32 %low, i32 %size)
  %at = getelementptr float, ptr addrspace(1) %out, i32 %high
  store float 1.0, ptr addrspace(1) %at
  ret void
}
; The limits are checked in front of what is read at the index, although the first effect comes later.
; CHECK-LABEL: define void @read_first.{{[0-9]+}}
; CHECK-COUNT-2: call void @simd.inside
; CHECK: load float
; CHECK: store float
define void @read_first(ptr addrspace(1) %out, i32 %x, i32 %size) {
entry:
  %left = add i32 %x, -3
  %low = call i32 @llvm.smax.i32(i32 %left, i32 0)
  %high = call i32 @llvm.smin.i32(i32 %low, i32 %size)
  %at = getelementptr float, ptr addrspace(1) %out, i32 %high
  %value = load float, ptr addrspace(1) %at
  %twice = fadd float %value, %value
  store float %twice, ptr addrspace(1) %at
  ret void
}
