; RUN: unroll-private
; Short loops that index a private array, or store neighbouring elements, are marked for the unroller; others are not.
; CHECK-LABEL: define void @own
; CHECK: br i1 %more, label %loop, label %done, !llvm.loop ![[MARK:.*]]
define void @own(ptr addrspace(1) %out) {
entry:
  %array = alloca [4 x i32]
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %array, i32 %i
  store i32 %i, ptr %at
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @run
; CHECK: br i1 %more, label %loop, label %done, !llvm.loop
define void @run(ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @apart
; CHECK: br i1 %more, label %loop, label %done{{$}}
define void @apart(ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [32 x i32], ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @many
; CHECK: br i1 %more, label %loop, label %done{{$}}
define void @many(ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 40
  br i1 %more, label %loop, label %done
done:
  ret void
}
; A loop around such a loop is not marked.
; CHECK-LABEL: define void @around
; CHECK: br i1 %more, label %loop, label %inner.done, !llvm.loop
; CHECK: br i1 %again, label %outer, label %done{{$}}
define void @around(ptr addrspace(1) %out) {
entry:
  %array = alloca [4 x i32]
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k.next, %inner.done ]
  br label %loop
loop:
  %i = phi i32 [ 0, %outer ], [ %next, %loop ]
  %at = getelementptr i32, ptr %array, i32 %i
  store i32 %k, ptr %at
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %inner.done
inner.done:
  %k.next = add nuw i32 %k, 1
  %again = icmp ult i32 %k.next, 3
  br i1 %again, label %outer, label %done
done:
  ret void
}
; CHECK: ![[MARK]] = distinct !{![[MARK]], ![[UNROLL:.*]]}
; CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.full", i32 1}
