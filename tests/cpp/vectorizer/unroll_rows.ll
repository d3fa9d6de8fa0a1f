; RUN: unroll-rows 4
; A loop in which every lane reads a row is unrolled. The index of 32 bits may wrap around, so the addresses differ in it.
; CHECK-LABEL: define void @rows
; CHECK: %[[I:.*]] = add i32 %row, %c
; CHECK: %[[NEXT:.*]] = add i32 %[[I]], 1
; CHECK: %[[WIDE:.*]] = zext i32 %[[NEXT]] to i64
; CHECK: %[[AT:.*]] = getelementptr float, ptr addrspace(1) %in, i64 %[[WIDE]]
; CHECK: load float, ptr addrspace(1) %[[AT]]
; CHECK: add i32 %[[I]], 7
; CHECK: icmp ult i32 %{{.*}}, 64
define void @rows(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x, i32 %width) {
entry:
  %row = mul i32 %x, %width
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %i = add i32 %row, %c
  %wide = zext i32 %i to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %at, align 4
  %more.sum = fadd float %sum, %value
  %next = add nuw i32 %c, 1
  %more = icmp ult i32 %next, 64
  br i1 %more, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %more.sum, ptr addrspace(1) %to, align 4
  ret void
}

; The rest of a row has a loop of its own. The addresses differ by constants.
; CHECK-LABEL: define void @rest
; CHECK: %[[FIRST:.*]] = getelementptr float, ptr addrspace(1) %row, i64 %c{{$}}
; CHECK: load float, ptr addrspace(1) %[[FIRST]]
; CHECK: getelementptr i8, ptr addrspace(1) %[[FIRST]], i64 28
; CHECK: loop.epil:
define void @rest(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i64 %width) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %at = getelementptr float, ptr addrspace(1) %row, i64 %c
  %value = load float, ptr addrspace(1) %at, align 4
  %more.sum = fadd float %sum, %value
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, %width
  br i1 %more, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %more.sum, ptr addrspace(1) %to, align 4
  ret void
}
; Lanes that are neighbours read blocks already.
; CHECK-LABEL: define void @columns
; CHECK-COUNT-1: load float
; CHECK-NOT: load float
; CHECK: ret void
define void @columns(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
entry:
  %first = zext i32 %x to i64
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %i = add i64 %first, %c
  %at = getelementptr float, ptr addrspace(1) %in, i64 %i
  %value = load float, ptr addrspace(1) %at, align 4
  %more.sum = fadd float %sum, %value
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %more.sum, ptr addrspace(1) %to, align 4
  ret void
}

; The store may change what the next iteration reads.
; CHECK-LABEL: define void @written
; CHECK-COUNT-1: load float
; CHECK-NOT: load float
; CHECK: ret void
define void @written(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v) {
entry:
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %i = add i64 %v, %c
  %at = getelementptr float, ptr addrspace(1) %in, i64 %i
  %value = load float, ptr addrspace(1) %at, align 4
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to, align 4
  %next = add nuw i64 %c, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  ret void
}
