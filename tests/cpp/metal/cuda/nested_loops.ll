; RUN: nvptx-retarget,nvptx-optimize
; Lanes that leave the inner loop early wait for the others behind it, so it stays a loop of its own, though all that an
; iteration of the outer one does first is to run the inner one.
declare i32 @__metal_simd_sum_u32(i32) #0
; CHECK-LABEL: define {{.*}}@kernel(
; CHECK: {{^}}inner:
; CHECK: br i1 %odd, label %inner, label %behind
; CHECK: br i1 %again, label %outer, label %end
define void @kernel(ptr addrspace(1) %data, ptr addrspace(1) %out, i32 %lane) {
entry:
  br label %outer
outer:
  %x = phi i32 [ %lane, %entry ], [ %sum, %behind ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %at = phi i32 [ %x, %outer ], [ %next, %inner ]
  %place = getelementptr i32, ptr addrspace(1) %data, i32 %at
  %next = load volatile i32, ptr addrspace(1) %place
  %j.next = add i32 %j, 1
  %odd = trunc i32 %next to i1
  br i1 %odd, label %inner, label %behind
behind:
  %sum = call i32 @__metal_simd_sum_u32(i32 %next)
  store volatile i32 %j.next, ptr addrspace(1) %out
  %again = icmp ult i32 %sum, 7
  br i1 %again, label %outer, label %end
end:
  ret void
}
attributes #0 = { convergent nounwind }
