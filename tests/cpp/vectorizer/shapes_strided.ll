; RUN: shapes 4
; Values that are strided, with a stride that is only known at run time, through sums, loops and casts.
; CHECK: %product: strided
; CHECK: %short: strided
; CHECK: %again: varying
; CHECK: %square: varying
; CHECK: %is_far: varying
; CHECK: %sum: strided
; CHECK: %next: strided
; CHECK: %address: strided
; CHECK: %difference: strided
; CHECK: %mixed: varying
; The sum of a strided value and an index is strided; that with irregular offsets is not.
; CHECK: %either: strided
; CHECK: %swapped: lane 0 + 0 -1 2 1
; CHECK: %neither: varying
define void @kernel(ptr addrspace(1) %in, i64 %stride, i32 %x, i64 %vary, i64 %n) {
entry:
  %i = zext i32 %x to i64
  %product = mul i64 %i, %stride
  %short = trunc i64 %product to i32
  %again = zext i32 %short to i64
  %square = mul i64 %product, %product
  %is_far = icmp ugt i64 %product, %n
  br label %loop

loop:
  %sum = phi i64 [ %product, %entry ], [ %next, %loop ]
  %k = phi i64 [ 0, %entry ], [ %more, %loop ]
  %next = add i64 %sum, %n
  %more = add i64 %k, 1
  %done = icmp eq i64 %more, %n
  br i1 %done, label %end, label %loop

end:
  %address = getelementptr float, ptr addrspace(1) %in, i64 %next
  %difference = sub i64 %i, %next
  %mixed = add i64 %next, %vary
  %which = icmp eq i64 %n, 7
  %either = select i1 %which, i64 %product, i64 %i
  %swapped = xor i64 %i, 1
  %neither = select i1 %which, i64 %product, i64 %swapped
  ret void
}
