; RUN: nontemporal-stores
; Volatile and atomic stores, and stores to other memory than a buffer's, are not marked.
; CHECK-LABEL: define void @other_stores
; CHECK-NOT: nontemporal
; CHECK-LABEL: define void @again
define void @other_stores(ptr addrspace(1) %out, ptr addrspace(3) %tile, i64 %i) {
  %at = getelementptr float, ptr addrspace(1) %out, i64 %i
  store volatile float 1.0, ptr addrspace(1) %at, align 4
  %flag = getelementptr i32, ptr addrspace(1) %at, i64 8
  store atomic i32 1, ptr addrspace(1) %flag monotonic, align 4
  store float 1.0, ptr addrspace(3) %tile, align 4
  ret void
}
; An inner loop writes consecutive elements, but each iteration of the outer one writes the same row again.
; CHECK-NOT: nontemporal
; CHECK-LABEL: define void @may_be_either
define void @again(ptr addrspace(1) %out, i64 %n) {
entry:
  br label %outer
outer:
  %iteration = phi i64 [ 0, %entry ], [ %iteration.next, %outer.latch ]
  br label %inner
inner:
  %k = phi i64 [ 0, %outer ], [ %next, %inner ]
  %at = getelementptr float, ptr addrspace(1) %out, i64 %k
  store float 1.0, ptr addrspace(1) %at, align 4
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %inner, label %outer.latch
outer.latch:
  %iteration.next = add i64 %iteration, 1
  %on = icmp ult i64 %iteration.next, 4
  br i1 %on, label %outer, label %done
done:
  ret void
}
; If one of two buffers is read, no store that may be to it is marked.
; CHECK-NOT: nontemporal
define void @may_be_either(ptr addrspace(1) %a, ptr addrspace(1) %b, i1 %which, i64 %i) {
  %from = getelementptr float, ptr addrspace(1) %a, i64 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %base = select i1 %which, ptr addrspace(1) %a, ptr addrspace(1) %b
  %to = getelementptr float, ptr addrspace(1) %base, i64 %i
  store float %value, ptr addrspace(1) %to, align 4
  ret void
}
; Both addresses may be poison, but no memory is accessed there: what is written is not read.
; CHECK-LABEL: define void @may_be_poison
; CHECK: store float %value, ptr addrspace(1) %to, align 4, !simd.nontemporal
define void @may_be_poison(ptr addrspace(1) %a, ptr addrspace(1) %b, i1 %which) {
entry:
  br i1 %which, label %loop, label %end
loop:
  br label %end
end:
  %from = phi ptr addrspace(1) [ poison, %entry ], [ %a, %loop ]
  %to = phi ptr addrspace(1) [ poison, %entry ], [ %b, %loop ]
  %value = load float, ptr addrspace(1) %from, align 4
  store float %value, ptr addrspace(1) %to, align 4
  ret void
}
