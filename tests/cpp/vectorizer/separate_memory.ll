; RUN: separate-memory
; Accesses to different buffers, and to threadgroup memory, get different scopes. What may point into two buffers, atomic
; operations in device memory and constants stay unmarked.
; CHECK-LABEL: define void @kernel
; CHECK: load float, ptr addrspace(1) %x.at, align 4, !alias.scope ![[X:[0-9]+]], !noalias ![[NOT_X:[0-9]+]]
; CHECK: store float %value, ptr addrspace(1) %out.at, align 4, !alias.scope ![[OUT:[0-9]+]], !noalias ![[NOT_OUT:[0-9]+]]
; CHECK: store float %value, ptr addrspace(3) %shared, align 4, !alias.scope ![[SHARED:[0-9]+]], !noalias !{{[0-9]+}}
; CHECK: load float, ptr addrspace(1) %either, align 4{{$}}
; CHECK: load atomic i32, ptr addrspace(1) %x.at monotonic, align 4{{$}}
; CHECK: atomicrmw add ptr addrspace(3) %shared, i32 1 monotonic, align 4, !alias.scope ![[SHARED]], !noalias !{{[0-9]+}}
; CHECK: atomicrmw add ptr addrspace(1) %x.at, i32 1 monotonic, align 4{{$}}
; CHECK-DAG: ![[X]] = !{![[X_SCOPE:[0-9]+]]}
; CHECK-DAG: ![[OUT]] = !{![[OUT_SCOPE:[0-9]+]]}
; CHECK-DAG: ![[SHARED]] = !{![[SHARED_SCOPE:[0-9]+]]}
; CHECK-DAG: ![[NOT_X]] = !{![[SHARED_SCOPE]], ![[OUT_SCOPE]]}
; CHECK-DAG: ![[NOT_OUT]] = !{![[SHARED_SCOPE]], ![[X_SCOPE]]}
define void @kernel(ptr %launch, ptr addrspace(3) %shared, i64 %i, i1 %which) {
  %x.plain = load ptr, ptr %launch, !invariant.load !0
  %x = addrspacecast ptr %x.plain to ptr addrspace(1)
  %field = getelementptr i8, ptr %launch, i64 8
  %out.plain = load ptr, ptr %field, !invariant.load !0
  %out = addrspacecast ptr %out.plain to ptr addrspace(1)
  %x.at = getelementptr float, ptr addrspace(1) %x, i64 %i
  %out.at = getelementptr float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %x.at
  store float %value, ptr addrspace(1) %out.at
  store float %value, ptr addrspace(3) %shared
  %either = select i1 %which, ptr addrspace(1) %x.at, ptr addrspace(1) %out.at
  %other = load float, ptr addrspace(1) %either
  %atomic = load atomic i32, ptr addrspace(1) %x.at monotonic, align 4
  %shared.old = atomicrmw add ptr addrspace(3) %shared, i32 1 monotonic
  %x.old = atomicrmw add ptr addrspace(1) %x.at, i32 1 monotonic
  ret void
}
!0 = !{}
!separate_buffers = !{!0}
