; RUN: prepare
; A pair that comes around a loop becomes two values.
; CHECK-LABEL: define void @kernel
; CHECK: again:
; CHECK-NOT: phi {
; CHECK: %[[SEEN:.*]] = phi i32 [ %[[FIRST:.*]], %entry ], [ %[[NEXT:.*]], %again
; CHECK-NOT: phi {
; CHECK: add i32 %[[SEEN]], 1
; CHECK: cmpxchg
define void @kernel(ptr addrspace(1) %out) {
entry:
  %first = cmpxchg ptr addrspace(1) %out, i32 0, i32 1 monotonic monotonic, align 4
  br label %again
again:
  %pair = phi { i32, i1 } [ %first, %entry ], [ %next, %again ]
  %seen = extractvalue { i32, i1 } %pair, 0
  %more = add i32 %seen, 1
  %next = cmpxchg ptr addrspace(1) %out, i32 %seen, i32 %more monotonic monotonic, align 4
  %done = extractvalue { i32, i1 } %next, 1
  br i1 %done, label %end, label %again
end:
  ret void
}

; The loop's result is a number, not a pair, wherever its parts are taken.
; CHECK-LABEL: define void @leaves_loop
; CHECK: again:
; CHECK: %[[PAIR:.*]] = cmpxchg
; CHECK-DAG: extractvalue { i32, i1 } %[[PAIR]], 0
; CHECK-DAG: extractvalue { i32, i1 } %[[PAIR]], 1
; CHECK: end:
; CHECK-NOT: { i32, i1 }
; CHECK: ret void
define void @leaves_loop(ptr addrspace(1) %out) {
entry:
  br label %again
again:
  %pair = cmpxchg ptr addrspace(1) %out, i32 0, i32 1 monotonic monotonic, align 4
  %done = extractvalue { i32, i1 } %pair, 1
  br i1 %done, label %end, label %again
end:
  %seen = extractvalue { i32, i1 } %pair, 0
  store i32 %seen, ptr addrspace(1) %out
  ret void
}

; CHECK-LABEL: define void @leaves_closed_loop
; CHECK: end:
; CHECK-NOT: { i32, i1 }
; CHECK: ret void
define void @leaves_closed_loop(ptr addrspace(1) %out) {
entry:
  br label %again
again:
  %pair = cmpxchg ptr addrspace(1) %out, i32 0, i32 1 monotonic monotonic, align 4
  %done = extractvalue { i32, i1 } %pair, 1
  br i1 %done, label %end, label %again
end:
  %last = phi { i32, i1 } [ %pair, %again ]
  %seen = extractvalue { i32, i1 } %last, 0
  store i32 %seen, ptr addrspace(1) %out
  ret void
}

; A part of a part is taken from the part.
; CHECK-LABEL: define void @nested
; CHECK: store i32 %{{.*}}, ptr addrspace(1) %out
; CHECK: ret void
define void @nested(ptr addrspace(1) %out, i1 %c, i32 %x) {
entry:
  %made = insertvalue { i32, { i32, i32 } } zeroinitializer, i32 %x, 1, 0
  br i1 %c, label %yes, label %end
yes:
  br label %end
end:
  %pair = phi { i32, { i32, i32 } } [ zeroinitializer, %entry ], [ %made, %yes ]
  %part = extractvalue { i32, { i32, i32 } } %pair, 1, 0
  store i32 %part, ptr addrspace(1) %out
  ret void
}
