; RUN: prefetch-pieces
; A loop reads long pieces of a row, which follow each other. Beside the load of each cache line, a line of a later piece
; is prefetched, 32 lines further.
; CHECK-LABEL: define <16 x float> @row
; CHECK: %[[FIRST:.*]] = getelementptr i8, ptr addrspace(1) %at, i64 2048
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[FIRST]], i32 0, i32 3, i32 1)
; CHECK-NEXT: %a = load
; CHECK-NEXT: %at.c = getelementptr
; CHECK-NEXT: %[[THIRD:.*]] = getelementptr i8, ptr addrspace(1) %at.c, i64 2048
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) %[[THIRD]], i32 0, i32 3, i32 1)
; CHECK-NEXT: %c = load
; CHECK-COUNT-2: call void @llvm.prefetch
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret
define <16 x float> @row(ptr %group, ptr addrspace(1) %in) {
entry:
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %x = load i32, ptr %position, align 4
  %first = zext i32 %x to i64
  %row = getelementptr [1024 x float], ptr addrspace(1) %in, i64 %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %s4, %loop ]
  %at = getelementptr float, ptr addrspace(1) %row, i64 %i
  %a = load <16 x float>, ptr addrspace(1) %at, align 4
  %at.c = getelementptr i8, ptr addrspace(1) %at, i64 128
  %c = load <16 x float>, ptr addrspace(1) %at.c, align 4
  %at.b = getelementptr i8, ptr addrspace(1) %at, i64 64
  %b = load <16 x float>, ptr addrspace(1) %at.b, align 4
  %at.d = getelementptr i8, ptr addrspace(1) %at, i64 192
  %d = load <16 x float>, ptr addrspace(1) %at.d, align 4
  %s1 = fadd <16 x float> %sum, %a
  %s2 = fadd <16 x float> %s1, %b
  %s3 = fadd <16 x float> %s2, %c
  %s4 = fadd <16 x float> %s3, %d
  %next = add nuw nsw i64 %i, 64
  %done = icmp eq i64 %next, 1024
  br i1 %done, label %exit, label %loop
exit:
  ret <16 x float> %s4
}

; It goes down in memory, too.
; CHECK-LABEL: define <64 x float> @down
; CHECK: getelementptr i8, ptr addrspace(1) %at, i64 -2048
; CHECK: getelementptr i8, ptr addrspace(1) %at, i64 -1984
; CHECK: getelementptr i8, ptr addrspace(1) %at, i64 -1920
; CHECK: getelementptr i8, ptr addrspace(1) %at, i64 -1856
; CHECK: %a = load
define <64 x float> @down(ptr %group, ptr addrspace(1) %in) {
entry:
  %position = getelementptr inbounds i8, ptr %group, i64 24
  %x = load i32, ptr %position, align 4
  %first = zext i32 %x to i64
  %row = getelementptr [1024 x float], ptr addrspace(1) %in, i64 %first
  br label %loop
loop:
  %i = phi i64 [ 960, %entry ], [ %next, %loop ]
  %sum = phi <64 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr addrspace(1) %row, i64 %i
  %a = load <64 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <64 x float> %sum, %a
  %next = sub nuw nsw i64 %i, 64
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret <64 x float> %more
}

; All threadgroups read this vector, so it is in the caches.
; CHECK-LABEL: define <64 x float> @shared
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret
define <64 x float> @shared(ptr addrspace(1) %row) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <64 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr addrspace(1) %row, i64 %i
  %a = load <64 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <64 x float> %sum, %a
  %next = add nuw nsw i64 %i, 64
  %done = icmp eq i64 %next, 1024
  br i1 %done, label %exit, label %loop
exit:
  ret <64 x float> %more
}

; Processors follow short pieces themselves; pieces of several rows, and such with gaps, are not read on.
; CHECK-LABEL: define <16 x float> @others
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret
define <16 x float> @others(ptr %group, ptr addrspace(1) %in) {
entry:
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %x = load i32, ptr %position, align 4
  %first = zext i32 %x to i64
  %row = getelementptr [1024 x float], ptr addrspace(1) %in, i64 %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %s3, %loop ]
  %short = getelementptr [16 x float], ptr addrspace(1) %row, i64 %i
  %a = load <16 x float>, ptr addrspace(1) %short, align 4
  %far = getelementptr [128 x float], ptr addrspace(1) %row, i64 %i
  %b = load <64 x float>, ptr addrspace(1) %far, align 4
  %part = shufflevector <64 x float> %b, <64 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %at = getelementptr [64 x float], ptr addrspace(1) %row, i64 %i
  %gap = getelementptr i8, ptr addrspace(1) %at, i64 192
  %c = load <16 x float>, ptr addrspace(1) %at, align 4
  %d = load <16 x float>, ptr addrspace(1) %gap, align 4
  %s1 = fadd <16 x float> %sum, %a
  %s2 = fadd <16 x float> %s1, %part
  %s3 = fadd <16 x float> %s2, %c
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 16
  br i1 %done, label %exit, label %loop
exit:
  ret <16 x float> %s3
}
