; RUN: jam-gangs 8
; Four gangs, each a row, read the same elements of a tile in each iteration. They are read once for all; each gang has
; its own sum. %index is the number of the set of gangs, which starts with row 4 * %index.
; CHECK-LABEL: define void @shares(
; CHECK: entry:
; CHECK: loop:
; CHECK-COUNT-4: phi <8 x float>
; CHECK: load <8 x float>, ptr addrspace(3) %at
; CHECK-NOT: load <8 x float>, ptr addrspace(3) %at
; CHECK-COUNT-4: fadd <8 x float>
; A barrier is one for all gangs.
; CHECK: call void @simd.barrier()
; CHECK-NOT: call void @simd.barrier()
; CHECK: exit:
; CHECK-COUNT-4: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
declare void @simd.barrier()
define void @shares(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(3) %tile, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %column = getelementptr [64 x float], ptr %group, i32 %y, i32 %i
  %factor = load <8 x float>, ptr %column
  %product = fmul <8 x float> %value, %factor
  %more = fadd <8 x float> %sum, %product
  call void @simd.barrier()
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %y
  store <8 x float> %more, ptr %out
  ret void
}

; Where gangs may take different paths, one runs after the other: the branch depends on the row.
; CHECK-LABEL: define void @in_turn(
; CHECK: br i1 %{{.*}}, label %few, label
; CHECK-COUNT-4: store volatile i32
; CHECK-NOT: store volatile
define void @in_turn(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(3) %tile, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %above = icmp ult i32 %y, 2
  br i1 %above, label %few, label %end
few:
  store volatile i32 %y, ptr %group
  br label %end
end:
  ret void
}

; Nothing is shared, as each gang reads its own row: the code stays as it is.
; CHECK-LABEL: define void @apart(
; CHECK: loop:
; CHECK-COUNT-1: load <8 x float>
; CHECK-NOT: load <8 x float>
; CHECK: ret void
define void @apart(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr [64 x <8 x float>], ptr addrspace(3) %tile, i32 %y, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %more = fadd <8 x float> %sum, %value
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  store <8 x float> %more, ptr %group
  ret void
}

; A barrier behind such a branch: not all gangs may come to it, so the code stays as it is.
; CHECK-LABEL: define void @waits(
; CHECK: some:
; CHECK-COUNT-1: call void @simd.barrier()
; CHECK-NOT: call void @simd.barrier()
; CHECK: ret void
define void @waits(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(3) %tile, i32 %i
  %value = load volatile <8 x float>, ptr addrspace(3) %at
  %other = load <8 x float>, ptr addrspace(3) %at
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %above = icmp ult i32 %y, 2
  br i1 %above, label %some, label %end
some:
  call void @simd.barrier()
  br label %end
end:
  ret void
}

; Gangs that read neighbouring columns of a tile are jammed, too: columns.h.
; CHECK-LABEL: define void @columns(
; CHECK-COUNT-4: call <8 x float> @"simd.column
; CHECK-NOT: call
; CHECK: ret void
declare <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) nocapture, i64) nosync nounwind willreturn memory(argmem: read)
define void @columns(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  %wide = zext i32 %y to i64
  %first = getelementptr float, ptr addrspace(3) %tile, i64 %wide
  %values = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %first, i64 132)
  %out = getelementptr <8 x float>, ptr %group, i64 %wide
  store <8 x float> %values, ptr %out
  ret void
}

; Columns that are far apart share nothing.
; CHECK-LABEL: define void @far_columns(
; CHECK-COUNT-1: call <8 x float> @"simd.column
; CHECK-NOT: call
; CHECK: ret void
define void @far_columns(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  %wide = zext i32 %y to i64
  %first = getelementptr [8 x float], ptr addrspace(3) %tile, i64 %wide
  %values = call <8 x float> @"simd.column.<8 x float>.ptr addrspace(3)"(ptr addrspace(3) align 4 %first, i64 132)
  %out = getelementptr <8 x float>, ptr %group, i64 %wide
  store <8 x float> %values, ptr %out
  ret void
}

; Each gang reads another number of elements, so the loop would run once for each: the code stays as it is.
; CHECK-LABEL: define void @of_other_lengths(
; CHECK: loop:
; CHECK-COUNT-1: load <8 x float>
; CHECK-NOT: load <8 x float>
; CHECK: ret void
define void @of_other_lengths(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(3) %tile, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %more = fadd <8 x float> %sum, %value
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %y
  br i1 %done, label %exit, label %loop
exit:
  store <8 x float> %more, ptr %group
  ret void
}

; Nor do gangs share what one of them reads behind a branch that the others do not take.
; CHECK-LABEL: define void @of_one_gang(
; CHECK-COUNT-1: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
define void @of_one_gang(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  %first = icmp eq i32 %y, 0
  br i1 %first, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(3) %tile, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %more = fadd <8 x float> %sum, %value
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  store <8 x float> %more, ptr %group
  br label %end
end:
  ret void
}

; Gangs may also share what they read in pairs.
; CHECK-LABEL: define void @pairs(
; CHECK-COUNT-4: phi <8 x float>
; CHECK-COUNT-4: fadd <8 x float>
; CHECK-COUNT-4: store <8 x float>
define void @pairs(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %tile = addrspacecast ptr %group to ptr addrspace(3)
  %pair = lshr i32 %y, 1
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr [64 x <8 x float>], ptr addrspace(3) %tile, i32 %pair, i32 %i
  %value = load <8 x float>, ptr addrspace(3) %at
  %more = fadd <8 x float> %sum, %value
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %y
  store <8 x float> %more, ptr %out
  ret void
}
