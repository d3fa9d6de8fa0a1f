; RUN: make-entries
; The entry has the kernel's host name and its pointers. It gets attributes by calls and passes them in the form that
; Clang chose. A function that already has the host's name is renamed.
; CHECK: define internal i32 @name.body()
; CHECK: define internal void @symbol(
; CHECK: define void @name(ptr addrspace(1) %argument1, ptr addrspace(2) %argument3) #[[KEPT:[0-9]+]]
; Three coordinates are a vector of 16 bytes in memory, which Clang passes as two halves.
; CHECK: %[[MEMORY:.*]] = alloca [16 x i8], align 16
; CHECK-DAG: %[[PLACE:.*]] = getelementptr i32, ptr %[[MEMORY]], i32 2
; CHECK-DAG: %[[Z:.*]] = call i32 @__metal_get_thread_position_in_grid(i32 2)
; CHECK: store i32 %[[Z]], ptr %[[PLACE]]
; CHECK: %[[LOW:.*]] = load <2 x float>, ptr
; CHECK: %[[HIGH:.*]] = load <2 x float>, ptr
; A short is passed as a short.
; CHECK: %[[WIDE:.*]] = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
; CHECK-NEXT: %[[SHORT:.*]] = trunc i32 %[[WIDE]] to i16
; CHECK: call void @symbol(ptr addrspace(1) noalias %argument1, <2 x float> %[[LOW]], <2 x float> %[[HIGH]], ptr addrspace(2) %argument3, i16 zeroext %[[SHORT]])
; CHECK-NEXT: ret void
; CHECK: attributes #[[KEPT]] = { convergent "no-nans-fp-math"="true" }
define internal i32 @name() {
  ret i32 1
}
define void @symbol(ptr addrspace(1) noalias %out, <2 x float> %low, <2 x float> %high, ptr addrspace(2) %in, i16 zeroext %index) #0 {
  ret void
}
attributes #0 = { convergent "no-nans-fp-math"="true" }
!kernel = !{!0, !1, !2, !3, !4}
!0 = !{!"symbol", !"name"}
!1 = !{!"buffer", i32 0, i32 1}
!2 = !{!"thread_position_in_grid", i32 3, i32 4, i32 16}
!3 = !{!"buffer", i32 1, i32 2}
!4 = !{!"thread_index_in_threadgroup", i32 1, i32 2, i32 2}
