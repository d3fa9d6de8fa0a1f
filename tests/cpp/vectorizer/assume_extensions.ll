; RUN: assume-coherent
; The extension of a strided index is assumed not to wrap around.
; CHECK-LABEL: define void @kernel.1
; CHECK: %[[COLUMN:.*]] = call i32 @simd.coherent.urem(i32 %x, i32 %size)
; CHECK: %[[PLACE:.*]] = mul i32 %[[COLUMN]], %stride
; CHECK: call i64 @simd.coherent.zext(i32 %[[PLACE]])
define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %size, i32 %stride) {
  %column = urem i32 %x, %size
  %place = mul i32 %column, %stride
  %wide = zext i32 %place to i64
  %at = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %x, ptr addrspace(1) %at
  ret void
}
