; RUN: widen 4
; An operation in threadgroup memory whose index comes from a buffer that the kernel never writes: each lane reads its
; index and computes the address from it.
; CHECK-LABEL: define internal void @neighbours.wide
; CHECK: %[[INDEX:.*]] = load volatile i32, ptr addrspace(1)
; CHECK-NEXT: %[[BIN:.*]] = and i32 %[[INDEX]], 15
; CHECK-NEXT: %[[AT:.*]] = getelementptr i32, ptr addrspace(3) %counts, i32 %[[BIN]]
; CHECK-NEXT: %[[OLD:.*]] = load i32, ptr addrspace(3) %[[AT]]
; CHECK-NEXT: %[[NEW:.*]] = add i32 %[[OLD]], 1
; CHECK-NEXT: store i32 %[[NEW]], ptr addrspace(3) %[[AT]]{{.*}} !simd.commuting
; CHECK: load volatile i32, ptr addrspace(1)
define void @neighbours(ptr addrspace(1) %in, ptr addrspace(3) %counts, i32 %x) {
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %index = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %bin = and i32 %index, 15
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %bin
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  ret void
}
; If nothing else needs the index, there is no vector, also where lanes are apart.
; CHECK-LABEL: define internal void @apart.wide
; CHECK-NOT: <4 x i32>, ptr addrspace(1)
; CHECK-COUNT-4: load volatile i32, ptr addrspace(1)
define void @apart(ptr addrspace(1) %in, ptr addrspace(3) %counts, i32 %x) {
  %from = getelementptr [8 x i32], ptr addrspace(1) %in, i32 %x
  %index = load i32, ptr addrspace(1) %from, !simd.unwritten !0
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %index
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  ret void
}
; What the kernel may write is not read again.
; CHECK-LABEL: define internal void @written.wide
; CHECK-NOT: load volatile i32, ptr addrspace(1)
; CHECK: ret void
define void @written(ptr addrspace(1) %in, ptr addrspace(3) %counts, i32 %x) {
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %index = load i32, ptr addrspace(1) %from
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %index
  %old = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  ret void
}
!0 = !{}
