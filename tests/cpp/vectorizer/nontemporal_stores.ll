; RUN: nontemporal-stores
; Stores that write each place once, to buffers that are not read, are marked.
; CHECK-LABEL: define void @copies
; CHECK: store float %value, ptr addrspace(1) %to, align 4, !simd.nontemporal
define void @copies(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %i) {
  %from = getelementptr float, ptr addrspace(1) %in, i64 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to, align 4
  ret void
}

; CHECK-LABEL: define void @updates
; CHECK-NOT: nontemporal
; CHECK-LABEL: define void @walks
define void @updates(ptr addrspace(1) %out, i64 %i) {
  %at = getelementptr float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %at, align 4
  %more = fadd float %value, 1.0
  store float %more, ptr addrspace(1) %at, align 4
  ret void
}

; The second store writes the same place in every iteration.
; CHECK: store float %value, ptr addrspace(1) %there, align 4, !simd.nontemporal
; CHECK-NEXT: store float %value, ptr addrspace(1) %here, align 4{{$}}
define void @walks(ptr addrspace(1) %out, ptr addrspace(1) %last, float %value, i64 %n, i64 %i) {
entry:
  %here = getelementptr float, ptr addrspace(1) %last, i64 %i
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %there = getelementptr float, ptr addrspace(1) %out, i64 %k
  store float %value, ptr addrspace(1) %there, align 4
  store float %value, ptr addrspace(1) %here, align 4
  %next = add i64 %k, 32
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}
