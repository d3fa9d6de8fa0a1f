; RUN: widen 8
; What is known to be 0 in lane 0 is a constant there.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: getelementptr i32, ptr addrspace(1) %out, i32 0
define void @kernel(ptr addrspace(1) %out, i32 %same, i32 %lane) {
  %row = shl i32 %same, 4
  %index = add i32 %row, %lane
  %column = and i32 %index, 15
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %column
  store i32 1, ptr addrspace(1) %to
  ret void
}
