; RUN: group-entry
; The entry runs all threads of a threadgroup, row by row. The index counts them in the order of their positions. An
; empty threadgroup runs none.
; CHECK: define internal void @kernel.body({{.*}}) #[[INLINED:[0-9]+]]
; CHECK: define void @kernel_entry(ptr align 8 dereferenceable(80) %group, i32 %thread) #[[KEPT:[0-9]+]]
; CHECK: getelementptr inbounds i8, ptr %group, i64 28
; CHECK-NEXT: %[[WIDTH:.*]] = load i32
; CHECK: getelementptr inbounds i8, ptr %group, i64 32
; CHECK-NEXT: %[[HEIGHT:.*]] = load i32
; CHECK: getelementptr inbounds i8, ptr %group, i64 36
; CHECK-NEXT: %[[DEPTH:.*]] = load i32
; CHECK: %[[FLAT:.*]] = icmp uge i32 0, %[[DEPTH]]
; CHECK-NEXT: br i1 %[[FLAT]], label %z.done, label %z.loop
; CHECK: %[[LAYER:.*]] = mul i32 %z, %[[HEIGHT]]
; CHECK-NEXT: %[[ROW:.*]] = add i32 %[[LAYER]], %y
; CHECK-NEXT: %[[START:.*]] = mul i32 %[[ROW]], %[[WIDTH]]
; CHECK: icmp ult i32 %{{.*}}, %[[DEPTH]]
; CHECK: %[[INDEX:.*]] = add nuw i32 %[[START]], %x
; CHECK-NEXT: call void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %[[INDEX]], i32 0, i1 true)
; CHECK: icmp ult i32 %{{.*}}, %[[WIDTH]]
; CHECK: icmp ult i32 %{{.*}}, %[[HEIGHT]]
; CHECK: attributes #[[INLINED]] = { alwaysinline "target-cpu"="x86-64-v3" }
; CHECK: attributes #[[KEPT]] = { "target-cpu"="x86-64-v3" }
define internal void @kernel.body(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) #0 {
  ret void
}
attributes #0 = { "target-cpu"="x86-64-v3" }
