; RUN: linearize,widen 4
; Indices that grow from lane to lane satisfy `index < size` in the first lanes: lane 0 tells whether any does, the last
; lane whether all do. The vector of bits is for a gang of which only some do.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[LAST:.*]] = add i32 %x, 3
; CHECK: %[[ANY:.*]] = icmp ult i32 %x, %size
; CHECK: %[[ALL:.*]] = icmp ult i32 %[[LAST]], %size
; CHECK: %[[ALL_FREEZE:.*]] = freeze i1 %[[ALL]]
; CHECK: %[[ANY_FREEZE:.*]] = freeze i1 %[[ANY]]
; CHECK: %[[ALL_RUN:.*]] = and i1 true, %[[ALL_FREEZE]]
; CHECK: %[[ANY_RUN:.*]] = and i1 true, %[[ANY_FREEZE]]
; CHECK-NOT: bitcast <4 x i1>
; CHECK: br i1 %{{.*}}, label %write, label %write.done
; CHECK: br i1 %{{.*}}, label %either.yes, label %either.no
; CHECK: either.yes:
; CHECK: store <4 x float>
; CHECK: either.no:
; CHECK: call void @llvm.masked.store
define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %size, i1 %active) {
entry:
  %inside = icmp ult i32 %x, %size
  br i1 %inside, label %write, label %done
write:
  %wide = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
; What differs from zero is larger than zero, as an unsigned integer.
; CHECK-LABEL: define internal void @behind_first.wide
; CHECK: %[[LAST:.*]] = add i32 %x, 3
; CHECK: %[[ALL:.*]] = icmp ugt i32 %x, 0
; CHECK: %[[ANY:.*]] = icmp ugt i32 %[[LAST]], 0
; CHECK-NOT: bitcast <4 x i1>
; CHECK: br i1 %{{.*}}, label %write, label %write.done
define void @behind_first(ptr addrspace(1) %out, i32 %x, i32 %size, i1 %active) {
entry:
  %behind = icmp ne i32 %x, 0
  br i1 %behind, label %write, label %done
write:
  %wide = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
