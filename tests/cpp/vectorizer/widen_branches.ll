; RUN: widen 4
; After linearisation all branches are uniform: simd.any tests whether any lane is active in a block, simd.mask says
; which lanes are.
declare i1 @simd.any(i1) memory(none)
declare void @simd.mask(i1)
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[BITS:.*]] = bitcast <4 x i1> %vary to i4
; CHECK: %[[SOME:.*]] = icmp ne i4 %[[BITS]], 0
; CHECK: br i1 %[[SOME]], label %then, label %end
; CHECK: then:
; CHECK: %[[ALL:.*]] = icmp eq i4 %{{.*}}, -1
; CHECK: br i1 %[[ALL]]
; CHECK: store <4 x i32> <i32 7, i32 7, i32 7, i32 7>
; CHECK: call void @llvm.masked.store.v4i32.p1({{.*}}, <4 x i1> %vary)
define void @kernel(ptr addrspace(1) %out, i32 %x, i1 %vary) {
entry:
  %some = call i1 @simd.any(i1 %vary)
  br i1 %some, label %then, label %end
then:
  call void @simd.mask(i1 %vary)
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 7, ptr addrspace(1) %to
  br label %end
end:
  ret void
}
