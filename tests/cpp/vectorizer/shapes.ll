; RUN: shapes 4
; How values differ between the lanes of a gang.
; CHECK: %sum: uniform
; CHECK: %double: lane 0 + 0 2 4 6, 3 zero bits
; CHECK: %half: lane 0 + 0 0 1 1, 1 zero bits{{$}}
; CHECK: %wide: lane 0 + 0 1 2 3, 2 zero bits{{$}}
; CHECK: %float: lane 0 + 0 4 8 12
; CHECK: %value: varying
; CHECK: %mixed: varying
; CHECK: %one: uniform
; CHECK: %part: varying
; CHECK: entry: divergent
; CHECK: %joined: varying
; CHECK: %branch: uniform
; CHECK-NOT: divergent
; CHECK: %together: uniform
define void @kernel(ptr addrspace(1) %in, i32 %x, i32 %same, i32 %vary) {
entry:
  %sum = add i32 %same, 8
  %double = shl i32 %x, 1
  %half = lshr i32 %x, 1
  %wide = zext i32 %x to i64
  %float = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %float
  %mixed = add i32 %x, %vary
  %one = load float, ptr addrspace(1) %in
  %part = icmp ult i32 %x, %same
  br i1 %part, label %then, label %join
then:
  br label %join
join:
  %joined = phi i32 [ 1, %entry ], [ 2, %then ]
  %branch = icmp eq i32 %same, 0
  br i1 %branch, label %end, label %more
more:
  br label %end
end:
  %together = phi i32 [ 1, %join ], [ 2, %more ]
  ret void
}
