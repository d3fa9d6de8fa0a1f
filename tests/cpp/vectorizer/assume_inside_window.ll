; RUN: assume-inside
; Each element of a window has a guard of its own. In gangs inside, no column is outside; the lanes share the row, so that
; its comparison stays.
; CHECK-LABEL: define void @window.1
; CHECK: %[[ROW:.*]] = icmp ult i32 %y, 1024
; CHECK-NEXT: %[[LEFT:.*]] = icmp ult i32 %left, 1024
; CHECK-NEXT: call void @simd.inside(i1 %[[LEFT]])
; CHECK-NEXT: %[[RIGHT:.*]] = icmp ult i32 %right, 1024
; CHECK-NEXT: call void @simd.inside(i1 %[[RIGHT]])
; CHECK: br i1 %[[ROW]], label %upper.left, label %after.a
; CHECK: %[[SAME:.*]] = icmp ult i32 %y, 1024
; CHECK-NEXT: br i1 %[[SAME]], label %upper.right, label %after.b
; CHECK: %[[BELOW:.*]] = icmp ult i32 %below, 1024
; CHECK-NEXT: br i1 %[[BELOW]], label %lower.left, label %after.c
define void @window(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x, i32 %y) {
entry:
  %left = add i32 %x, -1
  %right = add i32 %x, 1
  %below = add i32 %y, 1
  %start = mul i32 %y, 1024
  %next = mul i32 %below, 1024
  %upper_row = getelementptr float, ptr addrspace(1) %in, i32 %start
  %lower_row = getelementptr float, ptr addrspace(1) %in, i32 %next
  %a = or i32 %y, %left
  %a.inside = icmp ult i32 %a, 1024
  br i1 %a.inside, label %upper.left, label %after.a
upper.left:
  %a.at = getelementptr float, ptr addrspace(1) %upper_row, i32 %left
  %a.value = load float, ptr addrspace(1) %a.at
  br label %after.a
after.a:
  %a.sum = phi float [ %a.value, %upper.left ], [ 0.0, %entry ]
  %b = or i32 %y, %right
  %b.inside = icmp ult i32 %b, 1024
  br i1 %b.inside, label %upper.right, label %after.b
upper.right:
  %b.at = getelementptr float, ptr addrspace(1) %upper_row, i32 %right
  %b.value = load float, ptr addrspace(1) %b.at
  %b.more = fadd float %a.sum, %b.value
  br label %after.b
after.b:
  %b.sum = phi float [ %b.more, %upper.right ], [ %a.sum, %after.a ]
  %c = or i32 %below, %left
  %c.inside = icmp ult i32 %c, 1024
  br i1 %c.inside, label %lower.left, label %after.c
lower.left:
  %c.at = getelementptr float, ptr addrspace(1) %lower_row, i32 %left
  %c.value = load float, ptr addrspace(1) %c.at
  %c.more = fadd float %b.sum, %c.value
  br label %after.c
after.c:
  %c.sum = phi float [ %c.more, %lower.left ], [ %b.sum, %after.b ]
  %d = or i32 %below, %right
  %d.inside = icmp ult i32 %d, 1024
  br i1 %d.inside, label %lower.right, label %after.d
lower.right:
  %d.at = getelementptr float, ptr addrspace(1) %lower_row, i32 %right
  %d.value = load float, ptr addrspace(1) %d.at
  %d.more = fadd float %c.sum, %d.value
  br label %after.d
after.d:
  %d.sum = phi float [ %d.more, %lower.right ], [ %c.sum, %after.c ]
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %d.sum, ptr addrspace(1) %to
  ret void
}
