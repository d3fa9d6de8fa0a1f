; RUN: select-elements
; Lanes store to different elements of their arrays, and read them: each element is kept in a register.
; CHECK-LABEL: define void @kernel
; CHECK-NOT: alloca
; CHECK: %[[FIRST:.*]] = icmp eq i32 %v, 0
; CHECK: select i1 %[[FIRST]], i32 7, i32 0
; CHECK: %[[SECOND:.*]] = icmp eq i32 %v, 1
; CHECK: select i1 %[[SECOND]], i32 7, i32 1
; CHECK: icmp eq i32 %v.other, 1
; CHECK: select i1
; CHECK: ret void
define void @kernel(ptr addrspace(1) %out, i32 %v, i32 %v.other) {
  %array = alloca [2 x i32]
  %two = getelementptr i32, ptr %array, i32 1
  store i32 0, ptr %array
  store i32 1, ptr %two
  %at = getelementptr i32, ptr %array, i32 %v
  store i32 7, ptr %at
  %from = getelementptr i32, ptr %array, i32 %v.other
  %value = load i32, ptr %from
  store i32 %value, ptr addrspace(1) %out
  ret void
}
