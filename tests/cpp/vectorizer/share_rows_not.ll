; RUN: share-rows 4
; Lanes do not share rows if the order of iterations matters, or if they may overlap in memory.
; CHECK-NOT: simd.all_run

; Sums of floats.
define float @sum(ptr addrspace(1) %in, i64 %v, i32 %lane) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %larger, %loop ]
  %from = getelementptr float, ptr addrspace(1) %row, i64 %c
  %value = load float, ptr addrspace(1) %from, align 4
  %larger = fadd float %sum, %value
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, 256
  br i1 %more, label %loop, label %done
done:
  ret float %larger
}

; A load that may read what an earlier iteration stored.
define void @overlapping(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i32 %lane) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  %to.row = getelementptr float, ptr addrspace(1) %out, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr addrspace(1) %row, i64 %c
  %value = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr float, ptr addrspace(1) %to.row, i64 %c
  store float %value, ptr addrspace(1) %to, align 4
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, 256
  br i1 %more, label %loop, label %done
done:
  ret void
}

; The last one of the stores to a place, and a lane's copy of private memory.
define void @places(ptr addrspace(1) %out, i64 %v, i32 %lane) {
entry:
  %mine = alloca [256 x float], align 4
  %to.row = getelementptr float, ptr addrspace(1) %out, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %value = uitofp i64 %c to float
  store float %value, ptr addrspace(1) %to.row, align 4
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, 256
  br i1 %more, label %loop, label %then
then:
  br label %copy
copy:
  %k = phi i64 [ 0, %then ], [ %next.k, %copy ]
  %to = getelementptr float, ptr addrspace(1) %to.row, i64 %k
  %from = getelementptr float, ptr %mine, i64 %k
  %own = load float, ptr %from, align 4
  store float %own, ptr addrspace(1) %to, align 4
  %next.k = add nuw i64 %k, 1
  %more.k = icmp ult i64 %next.k, 256
  br i1 %more.k, label %copy, label %done
done:
  ret void
}

; The index is needed behind the loop. Rows are too short.
define i64 @short(ptr addrspace(1) %out, i64 %v, i64 %n, i32 %lane) {
entry:
  %to.row = getelementptr float, ptr addrspace(1) %out, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %to = getelementptr float, ptr addrspace(1) %to.row, i64 %c
  store float 1.0, ptr addrspace(1) %to, align 4
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %then
then:
  br label %again
again:
  %k = phi i64 [ 0, %then ], [ %next.k, %again ]
  %to.k = getelementptr float, ptr addrspace(1) %to.row, i64 %k
  store float 2.0, ptr addrspace(1) %to.k, align 4
  %next.k = add nuw i64 %k, 1
  %more.k = icmp ult i64 %next.k, 30
  br i1 %more.k, label %again, label %done
done:
  ret i64 %next
}
