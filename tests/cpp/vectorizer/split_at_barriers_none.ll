; RUN: split-at-barriers 4
; A gang that never waits runs once and is not resumed. Each gang has a frame of its own, which the next gang must not
; overwrite.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: store volatile i32 1
; CHECK-LABEL: define void @kernel_entry(
; CHECK: gang.loop:
; CHECK: %[[OFFSET:.*]] = mul i64 %{{.*}}, [[SIZE:[0-9]+]]
; CHECK-NEXT: %[[FRAME:.*]] = getelementptr i8, ptr %{{.*}}, i64 %[[OFFSET]]
; CHECK-NEXT: call void @kernel.gang(ptr %group, {{.*}}, ptr %[[FRAME]])
define void @kernel(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  store volatile i32 1, ptr %group
  ret void
}
