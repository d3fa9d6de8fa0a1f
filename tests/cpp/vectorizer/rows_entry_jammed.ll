; RUN: rows-entry 4
; Two gangs run at once as long as so many are left in the row, then single gangs, then single threads. If the two bail
; out, they run one after the other.
; CHECK-LABEL: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread)
; CHECK: and i32 %{{.*}}, -8
; CHECK: set.loop:
; CHECK: %[[DONE:.*]] = call i1 @jammed(ptr %group, i32 %set,
; CHECK-NEXT: br i1 %[[DONE]], label %next, label %again
; CHECK: call void @wide(ptr %group
; CHECK: call void @wide(ptr %group
; CHECK: rest.loop:
; CHECK: call void @thread(ptr %group
declare i1 @jammed(ptr, i32, i32, i32, i32, i32, i1)
declare void @wide(ptr, i32, i32, i32, i32, i32, i1)
declare void @thread(ptr, i32, i32, i32, i32, i32, i1)
