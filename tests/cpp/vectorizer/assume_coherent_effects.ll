; RUN: assume-coherent
; A division behind an effect, or beside one on which lanes part, is no place to bail out: the effect would happen twice.
; Without any other there is no second body.
; CHECK-NOT: @behind.
; CHECK-NOT: @beside.
; CHECK-NOT: @calls.
; CHECK-NOT: @signed.
; CHECK-NOT: @scattered.
; CHECK-NOT: simd.coherent
define void @behind(ptr addrspace(1) %out, i32 %x, i32 %size) {
  store i32 1, ptr addrspace(1) %out
  %row = udiv i32 %x, %size
  store i32 %row, ptr addrspace(1) %out
  ret void
}
define void @beside(ptr addrspace(1) %out, i32 %x, i32 %size, i1 %vary) {
entry:
  br i1 %vary, label %divides, label %stores
divides:
  %row = udiv i32 %x, %size
  br label %done
stores:
  store i32 1, ptr addrspace(1) %out
  br label %done
done:
  ret void
}
define void @calls(ptr addrspace(1) %out, i32 %x, i32 %size) {
  call void @outside()
  %row = udiv i32 %x, %size
  store i32 %row, ptr addrspace(1) %out
  ret void
}
; Lanes must follow each other, and one size be that of all.
define void @signed(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %row = sdiv i32 %x, %size
  store i32 %row, ptr addrspace(1) %out
  ret void
}
define void @scattered(ptr addrspace(1) %out, i32 %x, i32 %size, i32 %vary) {
  %row = udiv i32 %vary, %size
  %column = udiv i32 %x, %vary
  store i32 %row, ptr addrspace(1) %out
  store i32 %column, ptr addrspace(1) %out
  ret void
}
declare void @outside()
