; RUN: nvptx-unrolling
; NVIDIA's assembler must not unroll loops: each gets the metadata of which the back end makes `.pragma "nounroll"`.
; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %more, label %inner, label %next, !llvm.loop [[INNER:![0-9]+]]
; CHECK: br i1 %again, label %outer, label %done, !llvm.loop [[OUTER:![0-9]+]]
; CHECK-DAG: [[INNER]] = distinct !{[[INNER]], [[DISABLE:![0-9]+]]}
; CHECK-DAG: [[OUTER]] = distinct !{[[OUTER]], [[DISABLE]]}
; CHECK-DAG: [[DISABLE]] = !{!"llvm.loop.unroll.disable"
define void @kernel(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %next ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  store i32 %j, ptr addrspace(1) %out
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, %n
  br i1 %more, label %inner, label %next
next:
  %i.next = add i32 %i, 1
  %again = icmp ult i32 %i.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
