; RUN: rows-entry 4
; All gangs of a row run an iteration before one of them runs the next. If the number of iterations is not known, each gang
; runs its whole loop. So do the threads that fill no gang.
; CHECK: declare void @iteration({{.*}}) #[[INLINE:[0-9]+]]
; CHECK-LABEL: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread)
; CHECK: %[[COUNT:.*]] = call i32 @iterations(ptr %group, i32 0, i32 %y, i32 %z,
; CHECK-NEXT: %[[UNKNOWN:.*]] = icmp eq i32 %[[COUNT]], 0
; CHECK-NEXT: br i1 %[[UNKNOWN]], label %one_by_one, label %in_turns
; CHECK: call void @wide(ptr %group
; CHECK: iteration.loop:
; CHECK: x.loop
; CHECK: call void @iteration(ptr %group, i32 %x{{.*}}, i32 %y, i32 %z, i32 %{{.*}}, i32 0, i1 true, i32 %iteration)
; CHECK: call void @thread(ptr %group
; CHECK: attributes #[[INLINE]] = { alwaysinline }
declare void @iteration(ptr, i32, i32, i32, i32, i32, i1, i32)
declare i32 @iterations(ptr, i32, i32, i32, i32, i32, i1)
declare void @wide(ptr, i32, i32, i32, i32, i32, i1)
declare void @thread(ptr, i32, i32, i32, i32, i32, i1)
