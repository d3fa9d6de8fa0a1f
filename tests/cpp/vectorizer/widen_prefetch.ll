; RUN: widen 32
; Neighbouring lanes prefetch each line once. If the block starts within a line, they also prefetch the one in which it
; ends.
; CHECK-LABEL: define internal void @block.wide
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1)
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1)
; CHECK: %[[WITHIN:.*]] = and i64 %{{.*}}, 63
; CHECK: %[[ALIGNED:.*]] = icmp eq i64 %[[WITHIN]], 0
; CHECK: br i1 %[[ALIGNED]], label %either.yes, label %either.no
; CHECK: either.no:
; CHECK: %[[END:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 124
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[END]]
define void @block(ptr addrspace(1) %in, i32 %x) {
  %index = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %index
  call void @llvm.prefetch.p1(ptr addrspace(1) %at, i32 0, i32 2, i32 1)
  ret void
}

; Half a line or less is one prefetch: it seldom ends in another line.
; CHECK-LABEL: define internal void @half.wide
; CHECK: call void @llvm.prefetch.p1
; CHECK-NOT: prefetch
; CHECK: ret void
define void @half(ptr addrspace(1) %in, i32 %x) {
  %index = zext i32 %x to i64
  %at = getelementptr i8, ptr addrspace(1) %in, i64 %index
  call void @llvm.prefetch.p1(ptr addrspace(1) %at, i32 0, i32 2, i32 1)
  ret void
}

; In code with non-temporal stores, the next gang prefetches the next line, and a uniform address is not prefetched.
; CHECK-LABEL: define internal void @stream.wide
; CHECK-COUNT-2: call void @llvm.prefetch.p1
; CHECK-NOT: prefetch
; CHECK: ret void
define void @stream(ptr addrspace(1) %in, i32 %x) {
  call void @llvm.prefetch.p1(ptr addrspace(1) %in, i32 0, i32 3, i32 1), !simd.stream !0
  %index = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %index
  call void @llvm.prefetch.p1(ptr addrspace(1) %at, i32 0, i32 3, i32 1), !simd.stream !0
  ret void
}

; One address is one line, aligned or not.
; CHECK-LABEL: define internal void @one.wide
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1)
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 3, i32 1)
; CHECK-NOT: prefetch
; CHECK: ret void
define void @one(ptr addrspace(1) %in) {
  call void @llvm.prefetch.p1(ptr addrspace(1) %in, i32 0, i32 2, i32 1)
  call void @llvm.prefetch.p1(ptr addrspace(1) %in, i32 0, i32 3, i32 1)
  ret void
}

; If lanes access distant addresses, a prefetch does not pay.
; CHECK-LABEL: define internal void @anywhere.wide
; CHECK-NOT: prefetch
; CHECK: ret void
define void @anywhere(ptr addrspace(1) %in, i32 %v) {
  %index = zext i32 %v to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %index
  call void @llvm.prefetch.p1(ptr addrspace(1) %at, i32 0, i32 2, i32 1)
  ret void
}
declare void @llvm.prefetch.p1(ptr addrspace(1), i32, i32, i32)
!0 = !{}
