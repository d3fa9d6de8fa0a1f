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
; Signed indices, too.
; CHECK-LABEL: define void @signed.2
; CHECK: call i32 @simd.coherent.sdiv(i32 %x, i32 %size)
; CHECK: call i32 @simd.coherent.srem(i32 %x, i32 %size)
define void @signed(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %row = sdiv i32 %x, %size
  %column = srem i32 %x, %size
  %sum = add i32 %row, %column
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
