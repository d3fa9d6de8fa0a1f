; RUN: unroll-private
; A run from 8 i to 8 i + 8 has eight iterations, or one as far as LLVM knows: a product of sums may have lost what is known of it.
; CHECK-LABEL: define void @from_the_index
; CHECK: br i1 %more, label %loop, label %done, !llvm.loop ![[MARK:[0-9]+]]
; CHECK: ![[MARK]] = distinct !{![[MARK]], ![[HINT:[0-9]+]]}
; CHECK: ![[HINT]] = !{!"llvm.loop.unroll.enable", i32 1}
define void @from_the_index(ptr addrspace(1) %out, i32 range(i32 0, 2048) %x, i32 %group, i32 %given) {
entry:
  %size = and i32 %given, -64
  %start = mul nuw i32 %group, %size
  %i = add nuw nsw i32 %start, %x
  %first = shl nuw nsw i32 %i, 3
  %end = add nuw nsw i32 %first, 8
  br label %loop
loop:
  %k = phi i32 [ %first, %entry ], [ %next, %loop ]
  %wide = zext i32 %k to i64
  %at = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %k, ptr addrspace(1) %at
  %next = add nuw i32 %k, 1
  %more = icmp ult i32 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
