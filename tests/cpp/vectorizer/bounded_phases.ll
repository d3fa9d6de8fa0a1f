; RUN: bounded-phases 4
; A threadgroup has 8 gangs of 4 threads, which the second phase runs from the last one to the first. Only those whose
; first thread is below %count do something, so the others are left out. One of them runs in any case.
; CHECK-LABEL: define void @tree(
; CHECK: switch
; CHECK: %[[BOUND:.*]] = freeze i32 %count
; CHECK-NEXT: %[[SOME:.*]] = icmp ugt i32 %[[BOUND]], 0
; CHECK-NEXT: %[[BELOW:.*]] = sub i32 %[[BOUND]], 0
; CHECK-NEXT: %[[DISTANCE:.*]] = sub i32 %[[BELOW]], 1
; CHECK-NEXT: %[[LAST:.*]] = lshr i32 %[[DISTANCE]], 2
; CHECK: %[[CLAMPED:.*]] = call i32 @llvm.umin.i32(i32 %[[LAST]], i32 1024)
; CHECK: add i32 %[[CLAMPED]], 1
; CHECK: select i1 %[[SOME]],
; CHECK: %[[MOST:.*]] = call i32 @llvm.umin.i32(i32 %{{.*}}, i32 8)
; CHECK: %[[END:.*]] = call i32 @llvm.umax.i32(i32 %[[MOST]], i32 1)
; CHECK: %[[START:.*]] = sub nuw i32 8, %[[END]]
; CHECK: phi i32 [ %[[START]], %
; CHECK: store volatile float
declare void @simd.barrier()
define void @tree(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %count = load i32, ptr %group
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %busy = icmp ult i32 %x, %count
  br i1 %busy, label %work, label %end
work:
  store volatile float 1.0, ptr %group
  br label %end
end:
  ret void
}

; Those from a bound on, which is also computed before the loop. Poison is frozen there.
; CHECK-LABEL: define void @from(
; CHECK: switch
; CHECK: %[[HALF:.*]] = lshr i32 %count, 1
; CHECK: freeze i32 %[[HALF]]
; CHECK: %[[FIRST:.*]] = call i32 @llvm.umin.i32(i32 %{{.*}}, i32 7)
; CHECK: %[[ENDS:.*]] = sub nuw i32 8, %[[FIRST]]
; CHECK: store volatile float
; CHECK: icmp uge i32 %{{.*}}, %[[ENDS]]
define void @from(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %count = load i32, ptr %group
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %half = lshr i32 %count, 1
  %last = or disjoint i32 %index, 3
  %outside = icmp ult i32 %last, %half
  br i1 %outside, label %end, label %work
work:
  store volatile float 1.0, ptr %group
  br label %end
end:
  ret void
}

; Two guards: the gangs of both, and all between them.
; CHECK-LABEL: define void @two_guards(
; CHECK: switch
; CHECK: %[[FIRST:.*]] = call i32 @llvm.umin.i32(i32 %{{.*}}, i32 %
; CHECK: %[[END:.*]] = call i32 @llvm.umax.i32(i32 %{{.*}}, i32 %
; CHECK: call i32 @llvm.umin.i32(i32 %[[FIRST]], i32 7)
; CHECK: call i32 @llvm.umin.i32(i32 %[[END]], i32 8)
; CHECK: store volatile float 1.0
; CHECK: store volatile float 2.0
define void @two_guards(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %one = icmp eq i32 %index, 4
  br i1 %one, label %first, label %next
first:
  store volatile float 1.0, ptr %group
  br label %next
next:
  %gang = lshr i32 %index, 2
  %three = icmp eq i32 3, %gang
  br i1 %three, label %second, label %end
second:
  store volatile float 2.0, ptr %group
  br label %end
end:
  ret void
}

; Nothing is left out if the other gangs have an effect, too: in the same phase, or as a later phase needs a value.
; CHECK-LABEL: define void @all_work(
; CHECK: phi i32 [ 0, %
; CHECK: store volatile float
; CHECK: icmp uge i32 %{{.*}}, 8
define void @all_work(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  call void @simd.barrier()
  %busy = icmp ult i32 %x, 8
  br i1 %busy, label %work, label %end
work:
  store volatile float 1.0, ptr %group
  br label %end
end:
  store volatile i32 1, ptr %group
  ret void
}

; CHECK-LABEL: define void @all_choose(
; CHECK: switch
; CHECK: phi i32 [ 0, %
; CHECK: load float
; CHECK: icmp uge i32 %{{.*}}, 8
define void @all_choose(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  call void @simd.barrier()
  %busy = icmp ult i32 %x, 8
  br i1 %busy, label %read, label %chosen
read:
  %tile = getelementptr float, ptr %group, i32 %index
  %value = load float, ptr %tile
  br label %chosen
chosen:
  %other = phi float [ 0.0, %entry ], [ %value, %read ]
  call void @simd.barrier()
  store volatile float %other, ptr %group
  ret void
}

; A bound that the phase itself reads is not known before it.
; CHECK-LABEL: define void @reads_bound(
; CHECK: switch
; CHECK: phi i32 [ 0, %
; CHECK: store volatile float
; CHECK: icmp uge i32 %{{.*}}, 8
define void @reads_bound(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %count = load i32, ptr %group
  %busy = icmp ult i32 %x, %count
  br i1 %busy, label %work, label %end
work:
  store volatile float 1.0, ptr %group
  br label %end
end:
  ret void
}

; A barrier that a descending row of gangs need not wait at is inside of a phase.
; CHECK-LABEL: define void @descending(
; CHECK: store volatile i32 1
; CHECK: gang{{[0-9]+}}:
; CHECK: %[[OWN:.*]] = load volatile float
; CHECK-NEXT: store volatile float %[[OWN]]
; CHECK: gang{{[0-9]+}}:
; CHECK: store volatile i32 2
define void @descending(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %place = getelementptr float, ptr %group, i32 %x
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %own = load volatile float, ptr %place
  call void @simd.barrier(), !simd.descending !{}
  store volatile float %own, ptr %place
  call void @simd.barrier()
  store volatile i32 2, ptr %group
  ret void
}
