; RUN: shapes 4
; If all lanes have one quotient, remainders have the offsets of the dividends, and no known zero bits.
; CHECK: %row: uniform{{$}}
; CHECK: %column: lane 0 + 0 1 2 3{{$}}
; CHECK: %twice: lane 0 + 0 2 4 6, 1 zero bits{{$}}
; CHECK: %other: varying{{$}}
declare i32 @simd.coherent.udiv(i32, i32) memory(none)
declare i32 @simd.coherent.urem(i32, i32) memory(none)
define void @kernel(ptr addrspace(1) %in, i32 %x, i32 %same, i32 %vary) {
  %row = call i32 @simd.coherent.udiv(i32 %x, i32 %same)
  %column = call i32 @simd.coherent.urem(i32 %x, i32 %same)
  %twice = shl i32 %column, 1
  %other = call i32 @simd.coherent.urem(i32 %x, i32 %vary)
  ret void
}
