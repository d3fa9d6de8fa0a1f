; RUN: all-gangs-entry 8
; All gangs of a threadgroup run, one after the other. Each gets the index of its first thread.
; CHECK-LABEL: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread)
; CHECK: gang.loop:
; CHECK: %[[FIRST:.*]] = mul nuw i32 %gang, 8
; CHECK: %[[ROW:.*]] = udiv i32 %[[FIRST]], %
; CHECK: %[[X:.*]] = urem i32 %[[FIRST]], %
; CHECK: call void @gang(ptr %group, i32 %[[X]], i32 %{{.*}}, i32 %{{.*}}, i32 %[[FIRST]], i32 0, i1 true)
; CHECK-NEXT: add nuw i32 %gang, 1
; CHECK: br i1 %{{.*}}, label %gang.loop, label %gang.done
define internal void @gang(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  ret void
}
