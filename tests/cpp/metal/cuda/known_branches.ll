; RUN: nvptx-known-branches
; Both ways into a block that only branches come from a branch on the same condition, so each leads on at once.
; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK: br i1 %some, label %yes, label %no
; CHECK: yes:
; CHECK: %[[DOUBLE:.*]] = mul i32 %x, 2
; CHECK-NEXT: br label %write
; CHECK: no:
; CHECK-NEXT: call void @effect()
; CHECK-NEXT: br label %end
; CHECK-NOT: join:
; CHECK: write:
; CHECK: store i32 %[[DOUBLE]], ptr addrspace(1) %out
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %x) {
  %some = icmp ugt i32 %x, 7
  br i1 %some, label %yes, label %no
yes:
  %double = mul i32 %x, 2
  br label %join
no:
  call void @effect()
  br label %join
join:
  %value = phi i32 [ %double, %yes ], [ 0, %no ]
  br i1 %some, label %write, label %end
write:
  store i32 %value, ptr addrspace(1) %out, align 4
  br label %end
end:
  ret void
}
declare void @effect()
