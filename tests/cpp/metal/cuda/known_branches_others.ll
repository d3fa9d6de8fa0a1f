; RUN: nvptx-known-branches
; Another condition, and a block that does more than branch, stay.
; CHECK-LABEL: define ptx_kernel void @others
; CHECK: join:
; CHECK: br i1 %other, label %again, label %end
; CHECK: again:
; CHECK-NEXT: call void @effect()
; CHECK-NEXT: br i1 %some, label %write, label %end
define ptx_kernel void @others(ptr addrspace(1) %out, i32 %x) {
  %some = icmp ugt i32 %x, 7
  %other = icmp ugt i32 %x, 9
  br i1 %some, label %yes, label %join
yes:
  call void @effect()
  br label %join
join:
  br i1 %other, label %again, label %end
again:
  call void @effect()
  br i1 %some, label %write, label %end
write:
  store i32 %x, ptr addrspace(1) %out, align 4
  br label %end
end:
  ret void
}
declare void @effect()
