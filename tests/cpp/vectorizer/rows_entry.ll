; RUN: rows-entry 4
; Before several gangs run at once, the slice prefetches for the same gangs of the next threadgroup. Both are inlined
; into the loop.
; CHECK: declare i1 @prefetch({{.*}}) #[[INLINE:[0-9]+]]
; CHECK: declare i1 @several_gangs({{.*}}) #[[INLINE]]
; CHECK-LABEL: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread)
; CHECK: several.loop:
; CHECK: %[[AT:.*]] = getelementptr inbounds i8, ptr %group, i64 48
; CHECK-NEXT: %[[NEXT:.*]] = load ptr, ptr %[[AT]]
; CHECK-NEXT: call i1 @prefetch(ptr %[[NEXT]], i32 %several,
; CHECK: %[[DONE:.*]] = call i1 @several_gangs(ptr %group, i32 %several,
; CHECK-NEXT: br i1 %[[DONE]], label %next, label %again
; CHECK-NOT: @prefetch
; CHECK: call i1 @speculative(ptr %group
; CHECK: %[[GENERAL:.*]] = call ptr @metal_cpu_general_code(ptr %group, ptr @kernel_general_slot)
; CHECK-NEXT: call void %[[GENERAL]](ptr %group
; CHECK: rest.loop:
; CHECK: call void @thread(ptr %group
; CHECK: attributes #[[INLINE]] = { alwaysinline }
declare i1 @prefetch(ptr, i32, i32, i32, i32, i32, i1)
declare i1 @several_gangs(ptr, i32, i32, i32, i32, i32, i1)
declare i1 @speculative(ptr, i32, i32, i32, i32, i32, i1)
declare void @wide(ptr, i32, i32, i32, i32, i32, i1)
declare void @thread(ptr, i32, i32, i32, i32, i32, i1)
