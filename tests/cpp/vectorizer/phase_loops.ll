; RUN: phase-loops 4
; Every gang stores 1 before the first one stores 2. The first gang is the last one of the second phase.
; CHECK-LABEL: define void @two_phases(
; CHECK: gang:
; CHECK: store volatile i32 1, ptr %group
; CHECK: br i1 %{{.*}}, label %phase.end, label %gang
; CHECK: phase.end:
; CHECK: [[SECOND:gang[0-9]+]]:
; CHECK: %[[COUNT:.*]] = phi i32 [ 0, %{{.*}} ]
; CHECK: %[[LAST:.*]] = sub nuw i32 %{{.*}}, 1
; CHECK: sub nuw i32 %[[LAST]], %[[COUNT]]
; CHECK: store volatile i32 2, ptr %group
; CHECK: br i1 %{{.*}}, label %{{.*}}, label %[[SECOND]]
declare void @simd.barrier()
define void @two_phases(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  store volatile i32 2, ptr %group
  ret void
}

; A gang that never waits runs once.
; CHECK-LABEL: define void @never_waits(
; CHECK: gang:
; CHECK: store volatile i32 1, ptr %group
; CHECK-NOT: store volatile
; CHECK: ret void
define void @never_waits(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  store volatile i32 1, ptr %group
  ret void
}

; What all gangs compute alike is a variable of all of them: the number of the iteration. Sums are in the frame of each
; gang, and the next sum takes the place of the last one.
; CHECK-LABEL: define void @loop_with_barrier(
; CHECK: %frames = alloca i8, i64
; CHECK: entry:
; CHECK: store float 0.000000e+00, ptr
; CHECK: phase.end:
; CHECK: [[TEST:phase[0-9]+]]:
; CHECK: %[[I:.*]] = phi i32 [ 0, %phase.end ], [ %i.next, %{{.*}} ]
; CHECK: gang{{[0-9]+}}:
; CHECK: loop:
; CHECK-NEXT: %more = icmp ult i32 %[[I]], %count
; CHECK: after:
; CHECK-NEXT: %next = fadd float %[[SUM:.*]], %[[VALUE:.*]]
; CHECK: store float %next, ptr
; CHECK-NEXT: %i.next = add i32 %[[I]], 1
; CHECK-NOT: store float
; CHECK: switch i32 %{{.*}}, label %[[TEST]]
define void @loop_with_barrier(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %count = load i32, ptr %group
  %tile = getelementptr float, ptr %group, i32 %index
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %after ]
  %sum = phi float [ 0.0, %entry ], [ %next, %after ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %body, label %end
body:
  %value = load float, ptr %tile
  call void @simd.barrier()
  br label %after
after:
  %next = fadd float %sum, %value
  %i.next = add i32 %i, 1
  br label %loop
end:
  store float %sum, ptr %tile
  ret void
}

; A variable of a thread has a copy for each gang, if it is used in several phases.
; CHECK-LABEL: define void @variables(
; CHECK: %private = alloca i8, i64
; CHECK: %first = alloca [4 x i32]
; CHECK-NOT: %kept = alloca
define void @variables(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %first = alloca [4 x i32]
  %kept = alloca [4 x i32]
  store volatile i32 %index, ptr %first
  store volatile i32 %index, ptr %kept
  call void @simd.barrier()
  %value = load volatile i32, ptr %kept
  store volatile i32 %value, ptr %group
  ret void
}

; Gangs that do not wait alike keep their code: see split_at_barriers.ll.
; CHECK-LABEL: define void @some_wait(
; CHECK: call void @simd.barrier()
define void @some_wait(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %waits = icmp ult i32 %index, 8
  br i1 %waits, label %wait, label %end
wait:
  call void @simd.barrier()
  br label %end
end:
  ret void
}

; Where the threadgroup may have several rows, all gangs wait at each barrier.
; CHECK-LABEL: define void @rows(
; CHECK: load volatile float
; CHECK: phase.end
; CHECK: store volatile float
define void @rows(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %place = getelementptr float, ptr %group, i32 %x
  store volatile i32 1, ptr %group
  call void @simd.barrier()
  %own = load volatile float, ptr %place
  call void @simd.barrier(), !simd.descending !{}
  store volatile float %own, ptr %place
  ret void
}
