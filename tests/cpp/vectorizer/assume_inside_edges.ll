; RUN: assume-inside
; An index that turns back at the edge of the data, and goes on at the other side. Inside, these are the index itself.
; CHECK-LABEL: define void @turned.1
; CHECK: icmp sgt i32 %x, 0
; CHECK-NEXT: call void @simd.inside
; CHECK: %[[BELOW:.*]] = icmp sle i32 %left, %size
; CHECK-NEXT: call void @simd.inside(i1 %[[BELOW]])
; CHECK-NOT: call i32 @llvm.abs
; CHECK-NOT: select
; CHECK: store float
define void @turned(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x, i32 %size) {
  %left = add nsw i32 %x, -1
  %away = call i32 @llvm.abs.i32(i32 %left, i1 false)
  %beyond = icmp sgt i32 %away, %size
  %rest = sub i32 1000, %away
  %index = select i1 %beyond, i32 %rest, i32 %away
  %at = getelementptr float, ptr addrspace(1) %in, i32 %index
  %value = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %value, ptr addrspace(1) %to
  ret void
}
; CHECK-LABEL: define void @torus.2
; CHECK: %[[LEFT:.*]] = add i32 %x, -1
; CHECK: icmp ult i32 %[[LEFT]], 1000
; CHECK: %[[RIGHT:.*]] = add i32 %x, 1
; CHECK: icmp ult i32 %[[RIGHT]], 1000
; CHECK-NOT: urem
; CHECK: ret void
define void @torus(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %left = add i32 %x, 2999
  %first = urem i32 %left, 1000
  %right = add i32 %x, 1
  %second = urem i32 %right, 1000
  %from = getelementptr float, ptr addrspace(1) %in, i32 %first
  %a = load float, ptr addrspace(1) %from
  %beside = getelementptr float, ptr addrspace(1) %in, i32 %second
  %b = load float, ptr addrspace(1) %beside
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %to
  ret void
}
; The sum of 2000000000 and an index of less than 1500000000 may be negative, and so its remainder.
; CHECK-NOT: define void @large.
define void @large(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %left = add i32 %x, 2000000000
  %first = srem i32 %left, 1500000000
  %right = add i32 %x, 1600000000
  %second = srem i32 %right, 1500000000
  %from = getelementptr float, ptr addrspace(1) %in, i32 %first
  %a = load float, ptr addrspace(1) %from
  %beside = getelementptr float, ptr addrspace(1) %in, i32 %second
  %b = load float, ptr addrspace(1) %beside
  %sum = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %sum, ptr addrspace(1) %to
  ret void
}
; A single remainder takes an index apart: most gangs have no index that is less than the size.
; CHECK-NOT: define void @apart.
define void @apart(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %column = urem i32 %x, 1000
  %from = getelementptr float, ptr addrspace(1) %in, i32 %column
  %a = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %a, ptr addrspace(1) %to
  ret void
}
declare i32 @llvm.abs.i32(i32, i1)
