; RUN: linearize,widen 4
; Addresses that grow from lane to lane are compared as integers. Those of an object do not wrap around.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[FIRST:.*]] = ptrtoint ptr addrspace(1) %{{.*}} to i64
; CHECK: %[[END:.*]] = ptrtoint ptr addrspace(1) %end to i64
; CHECK: %[[LAST:.*]] = add i64 %[[FIRST]], 12
; CHECK-NEXT: icmp ult i64 %[[FIRST]], %[[END]]
; CHECK-NEXT: icmp ult i64 %[[LAST]], %[[END]]
; CHECK-NOT: icmp ule i64
; CHECK: store <4 x float>
define void @kernel(ptr addrspace(1) %out, i32 %x, ptr addrspace(1) %end, i1 %active) {
entry:
  %wide = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %out, i64 %wide
  %inside = icmp ult ptr addrspace(1) %at, %end
  br i1 %inside, label %write, label %done
write:
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
