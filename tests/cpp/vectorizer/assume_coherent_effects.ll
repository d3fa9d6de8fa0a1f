; RUN: assume-coherent
; A gang cannot bail out at a division after an effect, or beside one in a divergent branch, as the effect would happen
; twice. Without another division there is no speculative body.
; CHECK-NOT: @behind.
; CHECK-NOT: @beside.
; CHECK-NOT: @switched.
; CHECK-NOT: @later.
; CHECK-NOT: @again.
; CHECK-NOT: @calls.
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
; The lanes' indices must be sorted, and all must have one divisor.
define void @scattered(ptr addrspace(1) %out, i32 %x, i32 %size, i32 %vary) {
  %row = udiv i32 %vary, %size
  %column = udiv i32 %x, %vary
  store i32 %row, ptr addrspace(1) %out
  store i32 %column, ptr addrspace(1) %out
  ret void
}
declare void @outside()
; The ways of a switch are branches, too.
define void @switched(ptr addrspace(1) %out, i32 %x, i32 %size, i32 %vary) {
entry:
  switch i32 %vary, label %done [
    i32 1, label %effect
    i32 2, label %division
  ]
effect:
  store i32 1, ptr addrspace(1) %out
  br label %done
division:
  %row = udiv i32 %x, %size
  store i32 %row, ptr addrspace(1) %out
  br label %done
done:
  ret void
}
; The effect is in an earlier block.
define void @later(ptr addrspace(1) %out, i32 %x, i32 %size, i1 %flag) {
entry:
  store i32 1, ptr addrspace(1) %out
  br i1 %flag, label %between, label %done
between:
  br label %divides
divides:
  %row = udiv i32 %x, %size
  br label %done
done:
  ret void
}
; The effect is in the iteration before.
define void @again(ptr addrspace(1) %out, i32 %x, i32 %size, i32 %count) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %row = udiv i32 %x, %size
  store i32 %row, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
