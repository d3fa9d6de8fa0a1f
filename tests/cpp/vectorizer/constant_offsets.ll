; RUN: constant-offsets
; Addresses become a variable part plus a constant offset, so that neighbours are recognised.
; CHECK-LABEL: define float @neighbour
; CHECK: %[[VARIABLE:.*]] = getelementptr float, ptr addrspace(1) %in, i64 %i
; CHECK: %[[AT:.*]] = getelementptr i8, ptr addrspace(1) %[[VARIABLE]], i64 4
; CHECK: load float, ptr addrspace(1) %[[AT]]
define float @neighbour(ptr addrspace(1) %in, i64 %i) {
  %second = getelementptr i8, ptr addrspace(1) %in, i64 4
  %at = getelementptr float, ptr addrspace(1) %second, i64 %i
  %value = load float, ptr addrspace(1) %at
  ret float %value
}
