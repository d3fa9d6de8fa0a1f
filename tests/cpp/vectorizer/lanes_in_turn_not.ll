; RUN: lanes-in-turn 4
; Vector code runs a loop that all lanes leave together, one with more arithmetic than accesses that are apart, one in which lanes
; read the same elements, one that accesses a lane's copy of private memory, and one without accesses.
; CHECK-NOT: simd.all_run

define float @together(ptr addrspace(1) %in, i64 %v, i64 %count, i32 %lane) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %added, %loop ]
  %from = getelementptr float, ptr addrspace(1) %row, i64 %j
  %value = load float, ptr addrspace(1) %from, align 4
  %added = fadd float %value, %s
  %next = add nuw i64 %j, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret float %added
}

define float @arithmetic(ptr addrspace(1) %in, i64 %v, i64 %vcount, i32 %lane) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %added, %loop ]
  %from = getelementptr float, ptr addrspace(1) %row, i64 %j
  %value = load float, ptr addrspace(1) %from, align 4
  %two = fmul float %value, %value
  %three = fmul float %two, %value
  %four = fmul float %three, %value
  %five = fadd float %four, %three
  %added = fadd float %five, %s
  %next = add nuw i64 %j, 1
  %more = icmp ult i64 %next, %vcount
  br i1 %more, label %loop, label %done
done:
  ret float %added
}

define float @same_elements(ptr addrspace(1) %in, i64 %vcount, i32 %lane) {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %added, %loop ]
  %from = getelementptr float, ptr addrspace(1) %in, i64 %j
  %value = load float, ptr addrspace(1) %from, align 4
  %added = fadd float %value, %s
  %next = add nuw i64 %j, 1
  %more = icmp ult i64 %next, %vcount
  br i1 %more, label %loop, label %done
done:
  ret float %added
}

define float @private(ptr addrspace(1) %in, i64 %v, i64 %vcount, i32 %lane) {
entry:
  %mine = alloca [256 x float], align 4
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %added, %loop ]
  %from = getelementptr float, ptr %mine, i64 %j
  %value = load float, ptr %from, align 4
  %added = fadd float %value, %s
  %next = add nuw i64 %j, 1
  %more = icmp ult i64 %next, %vcount
  br i1 %more, label %loop, label %done
done:
  ret float %added
}

define i32 @no_accesses(i32 %vcount, i32 %lane) {
entry:
  br label %loop
loop:
  %j = phi i32 [ %vcount, %entry ], [ %next, %loop ]
  %next = zext i1 true to i32
  %more = trunc i32 %j to i1
  br i1 %more, label %loop, label %done
done:
  ret i32 %j
}
