; RUN: prepare
; A poison element makes the integer that its vector is cast to poison, unless it is frozen.
; CHECK-LABEL: define void @bits
; CHECK: freeze
; CHECK: shl i64 %{{.*}}, 32
; CHECK: or i64
; CHECK-NOT: bitcast <2 x i32>
; CHECK: ret void
define void @bits(ptr addrspace(1) %out, <2 x i32> %pair) {
  %number = bitcast <2 x i32> %pair to i64
  store i64 %number, ptr addrspace(1) %out
  ret void
}
; Assumptions and lifetime markers are removed: inactive lanes would violate them. Effects stay.
; CHECK-LABEL: define void @hints
; CHECK-NOT: call void @llvm
; CHECK: store volatile i32 1
; CHECK: fence
define void @hints(ptr addrspace(1) %out, i1 %always) {
  %own = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %own)
  call void @llvm.assume(i1 %always)
  store volatile i32 1, ptr %own
  fence seq_cst
  call void @llvm.lifetime.end.p0(i64 4, ptr %own)
  ret void
}
; A loop that has one exit keeps the branches of its two blocks. Its exit block only keeps the values that leave the
; loop.
; CHECK-LABEL: define i32 @one_exit
; CHECK-NOT: simd.never
; CHECK: %[[HANDED:.*]] = phi i32 [ %next, %loop ]
; CHECK-NEXT: br label %[[AFTER:.*]]
; CHECK: [[AFTER]]:
; CHECK-NEXT: ret i32 %[[HANDED]]
define i32 @one_exit(i32 %count) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}
