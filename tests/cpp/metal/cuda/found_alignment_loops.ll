; RUN: nvptx-found-alignment
; Pointers that a loop moves, also where a branch decides whether it does, stay multiples of what their steps are.
; CHECK-LABEL: define ptx_kernel void @moved(
; CHECK: load i16, ptr addrspace(1) %from, align 16
; CHECK: load i16, ptr addrspace(1) %other, align 8
; CHECK: load i16, ptr addrspace(1) %odd, align 2
define ptx_kernel void @moved(ptr addrspace(1) align 16 %in, i32 %n, i1 %moves) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next_i, %end ]
  %from = phi ptr addrspace(1) [ %in, %entry ], [ %next, %end ]
  %other = phi ptr addrspace(1) [ %in, %entry ], [ %next_other, %end ]
  %odd = phi ptr addrspace(1) [ %in, %entry ], [ %next_odd, %end ]
  %x = load i16, ptr addrspace(1) %from, align 2
  %y = load i16, ptr addrspace(1) %other, align 2
  %z = load i16, ptr addrspace(1) %odd, align 2
  br i1 %moves, label %move, label %end

move:
  %moved = getelementptr i8, ptr addrspace(1) %from, i64 1024
  %moved_other = getelementptr i8, ptr addrspace(1) %other, i64 -8
  br label %end

end:
  %next = phi ptr addrspace(1) [ %from, %loop ], [ %moved, %move ]
  %next_other = phi ptr addrspace(1) [ %other, %loop ], [ %moved_other, %move ]
  %next_odd = getelementptr i8, ptr addrspace(1) %odd, i64 2
  %next_i = add i32 %i, 1
  %more = icmp ult i32 %next_i, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
