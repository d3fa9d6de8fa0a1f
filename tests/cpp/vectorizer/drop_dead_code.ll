; RUN: drop-dead-code
; Unused code is removed, with the loops that only computed it: a prefetch slice would run them for nothing.
; CHECK-LABEL: define void @dead
; CHECK-NEXT: entry:
; CHECK-NEXT: ret void
define void @dead(ptr %in, i32 %count) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i32, ptr %in, i32 %i
  %value = load i32, ptr %at
  %more = add i32 %sum, %value
  %next = add i32 %i, 1
  %on = icmp ult i32 %next, %count
  br i1 %on, label %loop, label %done
done:
  ret void
}
; A loop that has an effect stays, and a prefetch is an effect.
; CHECK-LABEL: define void @prefetches
; CHECK: loop:
; CHECK: call void @llvm.prefetch
; CHECK: br i1
define void @prefetches(ptr %in, i32 %count) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %in, i32 %i
  call void @llvm.prefetch.p0(ptr %at, i32 0, i32 2, i32 1)
  %next = add i32 %i, 1
  %on = icmp ult i32 %next, %count
  br i1 %on, label %loop, label %done
done:
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
