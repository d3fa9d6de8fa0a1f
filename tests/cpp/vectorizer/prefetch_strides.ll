; RUN: prefetch-ahead 32
; If iterations read 1 KB apart, each prefetches what the eighth one after it will read.
; CHECK-LABEL: define void @shares
; CHECK: %[[ADDRESS:.*]] = getelementptr i8, ptr addrspace(1) %at, i64 8192
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[ADDRESS]], i32 0, i32 2, i32 1)
; CHECK: %value = load
define void @shares(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %offset = shl nuw nsw i32 %i, 8
  %element = add nuw i32 %lane, %offset
  %wide = zext i32 %element to i64
  %at = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %value = load i32, ptr addrspace(1) %at
  call void @use(i32 %value)
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; The length of a row is only known at run time.
; CHECK-LABEL: define void @rows
; CHECK: %[[BYTES:.*]] = shl i64 %columns, 5
; CHECK: loop:
; CHECK: %[[NEXT:.*]] = getelementptr i8, ptr addrspace(1) %at, i64 %[[BYTES]]
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[NEXT]], i32 0, i32 2, i32 1)
define void @rows(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in, i64 %start, i64 %columns, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul i64 %i, %columns
  %element = add i64 %offset, %start
  %at = getelementptr i32, ptr addrspace(1) %in, i64 %element
  %value = load i32, ptr addrspace(1) %at
  call void @use(i32 %value)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; The coordinates of a point are in one cache line, or in neighbouring ones.
; CHECK-LABEL: define void @points
; CHECK: call void @llvm.prefetch
; CHECK: %first = load
; CHECK-NOT: prefetch
; CHECK: %second = load
; CHECK-NOT: prefetch
; CHECK: %third = load
; CHECK: call void @llvm.prefetch
; CHECK: %other = load
; CHECK: ret void
define void @points(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %offset = shl nuw nsw i32 %i, 8
  %number = add nuw nsw i32 %lane, %offset
  %element = mul nuw nsw i32 %number, 3
  %wide = zext i32 %element to i64
  %x.at = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %first = load float, ptr addrspace(1) %x.at
  %y.at = getelementptr i8, ptr addrspace(1) %x.at, i64 4
  %second = load float, ptr addrspace(1) %y.at
  %z.at = getelementptr i8, ptr addrspace(1) %x.at, i64 8
  %third = load float, ptr addrspace(1) %z.at
  %other.at = getelementptr i8, ptr addrspace(1) %x.at, i64 64
  %other = load float, ptr addrspace(1) %other.at
  call void @use_float(float %first)
  call void @use_float(float %second)
  call void @use_float(float %third)
  call void @use_float(float %other)
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Each lane reads a piece of 16 bytes, and the next iteration reads on where the last lane ends. Processors follow that.
; CHECK-LABEL: define void @together
; CHECK-NOT: prefetch
; CHECK: ret void
define void @together(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in) {
entry:
  %first = zext i32 %x to i64
  %start = getelementptr i128, ptr addrspace(1) %in, i64 %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul i64 %i, 512
  %at = getelementptr i8, ptr addrspace(1) %start, i64 %offset
  %value = load i32, ptr addrspace(1) %at
  call void @use(i32 %value)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; If the next iteration leaves out as much as the lanes read, there is a prefetch.
; CHECK-LABEL: define void @with_gaps
; CHECK: call void @llvm.prefetch
; CHECK: ret void
define void @with_gaps(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in) {
entry:
  %first = zext i32 %x to i64
  %start = getelementptr i128, ptr addrspace(1) %in, i64 %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul i64 %i, 1024
  %at = getelementptr i8, ptr addrspace(1) %start, i64 %offset
  %value = load i32, ptr addrspace(1) %at
  call void @use(i32 %value)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; There is no prefetch in a loop that also reads consecutive memory, or that has few iterations.
; CHECK-LABEL: define void @product
; CHECK-NOT: prefetch
; CHECK: declare void @use(
define void @product(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %columns, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %left.at = getelementptr float, ptr addrspace(1) %a, i64 %i
  %left = load float, ptr addrspace(1) %left.at
  %row = mul i64 %i, %columns
  %right.at = getelementptr float, ptr addrspace(1) %b, i64 %row
  %right = load float, ptr addrspace(1) %right.at
  %both = fmul float %left, %right
  call void @use_float(float %both)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
define void @short(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active, ptr addrspace(1) %in) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul i64 %i, 1024
  %at = getelementptr i32, ptr addrspace(1) %in, i64 %offset
  %value = load i32, ptr addrspace(1) %at
  call void @use(i32 %value)
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
declare void @use(i32)
declare void @use_float(float)
