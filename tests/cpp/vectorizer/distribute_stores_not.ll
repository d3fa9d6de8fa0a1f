; RUN: distribute-stores
; CHECK-NOT: kernel.piece
; What is read may be what was written.
define void @in_place(ptr noalias %group, ptr addrspace(1) %from, ptr addrspace(1) %to, i64 %first) {
  %a.at = getelementptr float, ptr addrspace(1) %from, i64 %first
  %a = load float, ptr addrspace(1) %a.at
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %first
  store float %a, ptr addrspace(1) %a.to
  %b.at = getelementptr i8, ptr addrspace(1) %a.at, i64 1024
  %b = load float, ptr addrspace(1) %b.at
  %b.to = getelementptr i8, ptr addrspace(1) %a.to, i64 1024
  store float %b, ptr addrspace(1) %b.to
  ret void
}
; Processors follow what is on different pages.
define void @far(ptr noalias %group, ptr addrspace(1) noalias %to, i64 %first) {
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %first
  store float 1.0, ptr addrspace(1) %a.to
  %b.to = getelementptr i8, ptr addrspace(1) %a.to, i64 8192
  store float 2.0, ptr addrspace(1) %b.to
  ret void
}
; The distance is not known.
define void @unknown(ptr noalias %group, ptr addrspace(1) noalias %to, i64 %first, i64 %second) {
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %first
  store float 1.0, ptr addrspace(1) %a.to
  %b.to = getelementptr float, ptr addrspace(1) %to, i64 %second
  store float 2.0, ptr addrspace(1) %b.to
  ret void
}
; The order of an atomic operation stays.
define void @atomic(ptr noalias %group, ptr addrspace(1) noalias %to, ptr addrspace(1) noalias %count, i64 %first) {
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %first
  store float 1.0, ptr addrspace(1) %a.to
  %old = atomicrmw add ptr addrspace(1) %count, i32 1 monotonic
  %b.to = getelementptr i8, ptr addrspace(1) %a.to, i64 1024
  store float 2.0, ptr addrspace(1) %b.to
  ret void
}
; An index of 8 bits may wrap around to the element that the other store writes: here where %a is 255.
define void @narrow(ptr noalias %group, ptr addrspace(1) noalias %to, i8 %a) {
  %next = add i8 %a, 1
  %next.wide = zext i8 %next to i64
  %after = add i64 %next.wide, 255
  %a.to = getelementptr float, ptr addrspace(1) %to, i64 %after
  store float 1.0, ptr addrspace(1) %a.to
  %wide = zext i8 %a to i64
  %b.to = getelementptr float, ptr addrspace(1) %to, i64 %wide
  store float 2.0, ptr addrspace(1) %b.to
  ret void
}
