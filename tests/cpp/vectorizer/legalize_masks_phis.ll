; RUN: legalize-masks
; Masks that a loop carries are integers, too: bits would be packed and unpacked in every iteration.
; CHECK-LABEL: define void @loop
; CHECK: phi <4 x i32> [ {{(splat \(i32 -1\)|<i32 -1, i32 -1, i32 -1, i32 -1>)}}, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK-NOT: phi <4 x i1>
; CHECK: %[[NEXT]] = and <4 x i32>
define void @loop(ptr %out, <4 x float> %x, i1 %more) {
entry:
  br label %loop
loop:
  %live = phi <4 x i1> [ <i1 true, i1 true, i1 true, i1 true>, %entry ], [ %next, %loop ]
  %less = fcmp olt <4 x float> %x, zeroinitializer
  %next = and <4 x i1> %live, %less
  call void @llvm.masked.store.v4f32.p0(<4 x float> %x, ptr %out, i32 4, <4 x i1> %next)
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32, <4 x i1>)
; A bit that the condition does not select may be poison. Without the freeze, the result would be poison.
; CHECK-LABEL: define <4 x float> @poison
; CHECK: %[[YES:.*]] = freeze <4 x i32>
; CHECK: and <4 x i32> %{{.*}}, %[[YES]]
define <4 x float> @poison(<4 x i1> %wanted, <4 x i1> %may_be_poison, <4 x float> %a) {
  %mask = select <4 x i1> %wanted, <4 x i1> %may_be_poison, <4 x i1> zeroinitializer
  %result = select <4 x i1> %mask, <4 x float> %a, <4 x float> zeroinitializer
  ret <4 x float> %result
}
; A comparison that is used directly stays, as processors select by its bits. So do scalar bits.
; CHECK-LABEL: define <4 x float> @plain
; CHECK-NEXT: %less = fcmp olt <4 x float> %a, %b
; CHECK-NEXT: %either = or i1 %p, %q
; CHECK-NEXT: %result = select <4 x i1> %less, <4 x float> %a, <4 x float> %b
define <4 x float> @plain(<4 x float> %a, <4 x float> %b, i1 %p, i1 %q) {
  %less = fcmp olt <4 x float> %a, %b
  %either = or i1 %p, %q
  %result = select <4 x i1> %less, <4 x float> %a, <4 x float> %b
  %last = select i1 %either, <4 x float> %result, <4 x float> %a
  ret <4 x float> %last
}
