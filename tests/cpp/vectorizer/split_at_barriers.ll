; RUN: split-at-barriers 4
; Not all gangs wait at the barrier, so the code of a gang becomes a coroutine. The entry point runs every gang up to
; the barrier before the first one continues.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[SPILL:.*]] = getelementptr inbounds %kernel.gang.Frame
; CHECK: store volatile i32 1, ptr %group
; CHECK-NOT: store volatile
; CHECK: ret void
; CHECK-LABEL: define void @kernel_entry(
; CHECK: gang.loop:
; Each gang has a frame of its own, which the next gang must not overwrite.
; CHECK: %[[OFFSET:.*]] = mul i64 %{{.*}}, [[SIZE:[0-9]+]]
; CHECK-NEXT: %[[FRAME:.*]] = getelementptr i8, ptr %{{.*}}, i64 %[[OFFSET]]
; CHECK-NEXT: call void @kernel.gang(ptr %group, {{.*}}, ptr %[[FRAME]])
; CHECK: br i1 %{{.*}}, label %gang.loop, label %gang.done
; CHECK: phase:
; CHECK: next.loop:
; CHECK: call fastcc void @kernel.gang.resume(
; CHECK-LABEL: define internal fastcc void @kernel.gang.resume(
; CHECK-NOT: store volatile i32 1
; CHECK: store volatile i32 2
declare void @simd.barrier()
define void @kernel(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  store volatile i32 1, ptr %group
  %waits = icmp ult i32 %index, 8
  br i1 %waits, label %wait, label %end
wait:
  call void @simd.barrier()
  store volatile i32 2, ptr %group
  br label %end
end:
  ret void
}
