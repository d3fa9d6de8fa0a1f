; RUN: widen 4
; Whether a bit is true in all lanes, those that are not active as well. The last lane tells if an index grows.
declare i1 @simd.all(i1) memory(none)
; CHECK-LABEL: define internal void @index.wide
; CHECK: %[[LAST:.*]] = add i32 %x, 3
; CHECK: %[[ALL:.*]] = icmp ult i32 %[[LAST]], %n
; CHECK-NOT: bitcast <4 x i1>
; CHECK: br i1 %[[ALL]], label %yes, label %no
define void @index(ptr addrspace(1) %out, i32 %x, i32 %n) {
entry:
  %below = icmp ult i32 %x, %n
  %all = call i1 @simd.all(i1 %below)
  br i1 %all, label %yes, label %no
yes:
  store i32 1, ptr addrspace(1) %out
  br label %no
no:
  ret void
}
; Otherwise all lanes are looked at. Inactive ones may have poison.
; CHECK-LABEL: define internal void @bits.wide
; CHECK: %[[BITS:.*]] = freeze <4 x i1> %vary
; CHECK: %[[NUMBER:.*]] = bitcast <4 x i1> %[[BITS]] to i4
; CHECK: %[[ALL:.*]] = icmp eq i4 %[[NUMBER]], -1
; CHECK: br i1 %[[ALL]], label %yes, label %no
define void @bits(ptr addrspace(1) %out, i1 %vary) {
entry:
  %all = call i1 @simd.all(i1 %vary)
  br i1 %all, label %yes, label %no
yes:
  store i32 1, ptr addrspace(1) %out
  br label %no
no:
  ret void
}
