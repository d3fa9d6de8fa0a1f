; RUN: assume-inside
; A size that is only read behind another comparison, before all effects: the gang bails out where it is known. Behind the
; branch, lanes would part, but for that.
; CHECK-LABEL: define void @late.1
; CHECK: icmp ne i32 %{{.*}}, 0
; CHECK-NEXT: call void @simd.inside
; CHECK: next:
; CHECK: %size = load i32, ptr addrspace(1) %more
; CHECK-NEXT: %[[INSIDE:.*]] = icmp slt i32 %first, %size
; CHECK-NEXT: call void @simd.inside(i1 %[[INSIDE]])
; CHECK-NOT: br i1
; CHECK: store float 1.0
; CHECK: store float 2.0
; CHECK-NOT: call void @simd.inside
define void @late(ptr addrspace(1) %out, ptr addrspace(1) %sizes, i32 %x, i32 %y) {
entry:
  %rows = load i32, ptr addrspace(1) %sizes
  %row = icmp slt i32 %y, %rows
  br i1 %row, label %next, label %done
next:
  %first = shl i32 %x, 3
  %more = getelementptr i32, ptr addrspace(1) %sizes, i32 1
  %size = load i32, ptr addrspace(1) %more
  %inside = icmp slt i32 %first, %size
  br i1 %inside, label %behind, label %done
behind:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  %below = icmp ne i32 %first, 0
  br i1 %below, label %before, label %own
before:
  %left = getelementptr float, ptr addrspace(1) %at, i32 -1
  store float 1.0, ptr addrspace(1) %left
  br label %own
own:
  store float 2.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
; In an iteration, or where only some lanes come, the gang cannot bail out. One lane at most has an index.
define void @repeated(ptr addrspace(1) %out, ptr addrspace(1) %sizes, i32 %x, i32 %n) {
entry:
  %first = shl i32 %x, 3
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %more ]
  %from = getelementptr i32, ptr addrspace(1) %sizes, i32 %i
  %size = load i32, ptr addrspace(1) %from
  %inside = icmp slt i32 %first, %size
  br i1 %inside, label %store, label %more
store:
  store i32 %i, ptr addrspace(1) %at
  br label %more
more:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @some_lanes(ptr addrspace(1) %out, ptr addrspace(1) %sizes, i32 %x, i32 %vary) {
entry:
  %first = shl i32 %x, 3
  %chosen = icmp slt i32 %vary, 5
  br i1 %chosen, label %there, label %done
there:
  %size = load i32, ptr addrspace(1) %sizes
  %inside = icmp slt i32 %first, %size
  br i1 %inside, label %store, label %done
store:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
define void @one_lane(ptr addrspace(1) %out, i32 %x) {
entry:
  %first = shl i32 %x, 3
  %only = icmp eq i32 %first, 0
  br i1 %only, label %store, label %done
store:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
