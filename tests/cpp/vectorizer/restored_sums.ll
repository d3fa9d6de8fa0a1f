; RUN: restored-sums
; Ors of numbers without common bits are sums again. Only the range of the loop's index shows that it has none in common
; with the start of a row; the sum then has none in common with the constant.
; CHECK-LABEL: define void @rows
; CHECK: %at.row = add nuw nsw i32 %row, %c
; CHECK-NEXT: %further = add nuw nsw i32 %at.row, 32768
define void @rows(ptr addrspace(1) %in, i32 range(i32 0, 256) %x) {
entry:
  %row = shl nuw nsw i32 %x, 7
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at.row = or i32 %row, %c
  %further = or i32 %at.row, 32768
  %wide = zext i32 %further to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %wide
  store float 0.0, ptr addrspace(1) %at, align 4
  %next = add nuw nsw i32 %c, 1
  %last = icmp eq i32 %next, 128
  br i1 %last, label %done, label %loop
done:
  ret void
}

; The index has one bit more than the start has zeros, or any bits.
; CHECK-LABEL: define void @not_sums
; CHECK: %at.row = or i32 %row, %c
; CHECK: %any = or i32 %x, %c
; CHECK: %set = or i32 %x, 1
; CHECK: %truth = or <2 x i32> %pair, <i32 1, i32 1>
define void @not_sums(ptr addrspace(1) %in, i32 range(i32 0, 256) %x, <2 x i32> %pair) {
entry:
  %row = shl nuw nsw i32 %x, 7
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at.row = or i32 %row, %c
  %any = or i32 %x, %c
  %set = or i32 %x, 1
  %truth = or <2 x i32> %pair, <i32 1, i32 1>
  %next = add nuw nsw i32 %c, 1
  %last = icmp eq i32 %next, 129
  br i1 %last, label %done, label %loop
done:
  ret void
}
