; RUN: thread-entry
; The entry runs one thread. Its position is computed from its index: along x first, then y, then z.
; CHECK-LABEL: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread)
; CHECK: %[[X:.*]] = urem i32 %thread, %{{.*}}
; CHECK: %[[ROW:.*]] = udiv i32 %thread, %{{.*}}
; CHECK: %[[Y:.*]] = urem i32 %[[ROW]], %{{.*}}
; CHECK: %[[Z:.*]] = udiv i32 %[[ROW]], %{{.*}}
; CHECK: %[[LANE:.*]] = and i32 %thread, 31
; CHECK-NEXT: call void @kernel.body(ptr %group, i32 %[[X]], i32 %[[Y]], i32 %[[Z]], i32 %thread, i32 %[[LANE]], i1 true)
; CHECK-NOT: call
; CHECK-NOT: br
; CHECK: ret void
define internal void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  ret void
}
