; RUN: assume-coherent
; A speculative body for coherent gangs. The body must have no effects before the division.
; CHECK-LABEL: define void @kernel.1
; CHECK: %[[ROW:.*]] = call i32 @simd.coherent.udiv(i32 %x, i32 %size)
; CHECK: %[[COLUMN:.*]] = call i32 @simd.coherent.urem(i32 %x, i32 %size)
; CHECK: getelementptr i32, ptr addrspace(1) %out, i32 %[[COLUMN]]
; CHECK: store i32 %[[ROW]]
; CHECK: %late = udiv i32 %x, 3
define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %row = udiv i32 %x, %size
  %column = urem i32 %x, %size
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %column
  store i32 %row, ptr addrspace(1) %at
  %late = udiv i32 %x, 3
  ret void
}
