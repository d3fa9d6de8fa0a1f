; RUN: specialize
; A kernel that does not ask whether there is a value needs one: 0 would be a guess.
; CHECK: error: [kernel] function constant 4 ('count') needs a value
@count = external addrspace(2) constant i32
define void @kernel() {
  %value = load i32, ptr addrspace(2) @count
  ret void
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
!constants = !{!1}
!1 = !{!"count", i32 4, !"int"}
