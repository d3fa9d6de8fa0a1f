; RUN: distribute-stores
; Each body writes one of a thread's pieces of memory. Stores that are close to each other stay together. Indices of 32
; bits may wrap around.
; CHECK-LABEL: define void @apart(
; CHECK-LABEL: define void @kernel.piece(
; CHECK: %[[A:.*]] = load float
; CHECK-NOT: load float
; CHECK: store float %[[A]], ptr addrspace(1) %{{.*}}
; CHECK: store float 1.0{{.*}}, ptr addrspace(1) %{{.*}}
; CHECK-NOT: store
; CHECK: ret void
; CHECK-LABEL: define void @kernel.piece.{{[0-9]+}}(
; CHECK: %inside = icmp ult i32 %second, 100000
; CHECK: %[[B:.*]] = load float
; CHECK-NEXT: %[[TO:.*]] = getelementptr float, ptr addrspace(1) %to, i64 %second.wide
; CHECK-NEXT: store float %[[B]], ptr addrspace(1) %[[TO]]
; CHECK-NOT: store
; CHECK-NOT: define
define void @apart(ptr noalias %group, ptr addrspace(1) noalias readonly %from, ptr addrspace(1) noalias %to, i32 %first) {
  %wide = zext i32 %first to i64
  %a.at = getelementptr float, ptr addrspace(1) %from, i64 %wide
  %a = load float, ptr addrspace(1) %a.at
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %wide
  store float %a, ptr addrspace(1) %a.to
  %beside = getelementptr i8, ptr addrspace(1) %a.to, i64 4
  store float 1.0, ptr addrspace(1) %beside
  %second = add i32 %first, 256
  %inside = icmp ult i32 %second, 100000
  br i1 %inside, label %then, label %done
then:
  %second.wide = zext i32 %second to i64
  %b.at = getelementptr float, ptr addrspace(1) %from, i64 %second.wide
  %b = load float, ptr addrspace(1) %b.at
  %b.to = getelementptr float, ptr addrspace(1) %to, i64 %second.wide
  store float %b, ptr addrspace(1) %b.to
  br label %done
done:
  ret void
}
