; RUN: widen 4
; A gang goes on if all lanes are inside: the last lane tells.
declare void @simd.inside(i1) memory(inaccessiblemem: readwrite)
; CHECK-LABEL: define internal i1 @kernel.wide
; CHECK: %[[LAST:.*]] = add i32 %x, 3
; CHECK: %[[ALL:.*]] = icmp ult i32 %[[LAST]], %size
; CHECK: %[[HOLDS:.*]] = freeze i1 %{{.*}}
; CHECK: br i1 %[[HOLDS]], label %holds, label %bail.out
; CHECK: holds:
; CHECK: store <4 x float>
; CHECK: bail.out:
; CHECK-NEXT: ret i1 false
define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %inside = icmp ult i32 %x, %size
  call void @simd.inside(i1 %inside)
  %at = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float 1.0, ptr addrspace(1) %at
  ret void
}
