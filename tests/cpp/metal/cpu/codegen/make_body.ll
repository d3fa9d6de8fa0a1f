; RUN: make-body
; A kernel's arguments are loaded from the launch, by their index, with their address space. Threadgroup arguments point
; into the threadgroup's memory.
; CHECK-NOT: @kernel(
; CHECK: define internal void @kernel.body(ptr noalias align 8 dereferenceable(80) %group, i32 range(i32 0, 1024) %x, i32 range(i32 0, 1024) %y, i32 range(i32 0, 1024) %z, i32 range(i32 0, 1024) %index, i32 %lane, i1 %active) #[[KEPT:[0-9]+]]
; CHECK: %[[LAUNCH:.*]] = load ptr, ptr %{{.*}}, !invariant.load
; CHECK: %[[PLACE:.*]] = getelementptr inbounds i8, ptr %[[LAUNCH]], i64 24
; CHECK: %[[BUFFER:.*]] = load ptr, ptr %[[PLACE]]
; CHECK: %argument1 = addrspacecast ptr %[[BUFFER]] to ptr addrspace(1)
; CHECK: %[[OFFSETS:.*]] = getelementptr inbounds i8, ptr %{{.*}}, i64 252
; CHECK: %[[OFFSET:.*]] = load i32, ptr %[[OFFSETS]]
; CHECK: %[[START:.*]] = getelementptr i8, ptr %{{.*}}, i32 %[[OFFSET]]
; CHECK: %argument2 = addrspacecast ptr %[[START]] to ptr addrspace(3)
; CHECK: store ptr addrspace(3) %argument2, ptr addrspace(1) %argument1
; CHECK: attributes #[[KEPT]] = { "no-nans-fp-math"="true" }
define void @kernel(ptr addrspace(1) %out, ptr addrspace(3) %memory) "no-nans-fp-math"="true" {
  store ptr addrspace(3) %memory, ptr addrspace(1) %out
  ret void
}
!kernel = !{!0, !1, !2}
!0 = !{!"kernel", !"kernel"}
!1 = !{!"buffer", i32 3, i32 1}
!2 = !{!"threadgroup", i32 1, i32 3}
