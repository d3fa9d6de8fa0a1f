; RUN: nvptx-known-branches
; The flag of a loop is another one in each iteration.
; CHECK-LABEL: define ptx_kernel void @flag
; CHECK: loop:
; CHECK-NEXT: %flag = phi i1 [ true, %0 ], [ %more, %body ]
; CHECK-NEXT: br i1 %flag, label %body, label %end
; CHECK: body:
; CHECK: br label %loop
define ptx_kernel void @flag(ptr addrspace(1) %out) {
  br label %loop
loop:
  %flag = phi i1 [ true, %0 ], [ %more, %body ]
  br i1 %flag, label %body, label %end
body:
  %value = load volatile i32, ptr addrspace(1) %out, align 4
  %more = icmp ne i32 %value, 0
  br label %loop
end:
  ret void
}
