; RUN: nvptx-found-alignment
; Numbers in a loop keep the low zeros that all operations leave.
; CHECK-LABEL: define ptx_kernel void @numbers(
; CHECK: load i16, ptr addrspace(1) %a, align 16
; CHECK: load i16, ptr addrspace(1) %b, align 4
; CHECK: load i16, ptr addrspace(1) %c, align 8
; CHECK: load i16, ptr addrspace(1) %d, align 2
define ptx_kernel void @numbers(ptr addrspace(1) align 16 %in, i64 %n) {
entry:
  br label %loop

loop:
  %at = phi i64 [ 64, %entry ], [ %next, %loop ]
  %quarter = lshr i64 %at, 4
  %smaller = call i64 @llvm.umin.i64(i64 %at, i64 24)
  %rest = urem i64 %n, %at
  %a = getelementptr i8, ptr addrspace(1) %in, i64 %at
  %b = getelementptr i8, ptr addrspace(1) %in, i64 %quarter
  %c = getelementptr i8, ptr addrspace(1) %in, i64 %smaller
  %d = getelementptr i8, ptr addrspace(1) %in, i64 %rest
  %w = load i16, ptr addrspace(1) %a, align 2
  %x = load i16, ptr addrspace(1) %b, align 2
  %y = load i16, ptr addrspace(1) %c, align 2
  %z = load i16, ptr addrspace(1) %d, align 2
  %next = add i64 %at, 192
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
