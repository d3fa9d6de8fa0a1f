; RUN: unroll-rows 4
; A loop in which every lane reads a row is unrolled. The index of 32 bits may wrap around, so the addresses differ in it.
; CHECK-LABEL: define void @rows
; CHECK: %[[I:.*]] = add i32 %row, %c
; CHECK: %[[NEXT:.*]] = add i32 %[[I]], 1
; CHECK: %[[WIDE:.*]] = zext i32 %[[NEXT]] to i64
; CHECK: %[[AT:.*]] = getelementptr float, ptr addrspace(1) %in, i64 %[[WIDE]]
; CHECK: load float, ptr addrspace(1) %[[AT]]
; CHECK: add i32 %[[I]], 15
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

; The rest of a row has a loop of its own, which reads a block in an iteration, and then one for single elements. The addresses
; differ by constants.
; CHECK-LABEL: define void @rest
; CHECK: %[[FIRST:.*]] = getelementptr float, ptr addrspace(1) %row, i64 %c{{$}}
; CHECK: load float, ptr addrspace(1) %[[FIRST]]
; CHECK: getelementptr i8, ptr addrspace(1) %[[FIRST]], i64 60
; CHECK: loop.epil:
; CHECK: getelementptr i8, ptr addrspace(1) %{{.*}}, i64 12
; CHECK-NOT: getelementptr i8
; CHECK: loop.epil.epil:
; CHECK-NOT: getelementptr i8
; CHECK: ret void
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

; An index of 32 bits that does not wrap around is counted in 64 bits.
; CHECK-LABEL: define void @short_index
; CHECK: %[[FIRST:.*]] = getelementptr float, ptr addrspace(1) %row, i64 %
; CHECK: load float, ptr addrspace(1) %[[FIRST]]
; CHECK: getelementptr i8, ptr addrspace(1) %[[FIRST]], i64 60
define void @short_index(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i32 %width) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  %any = icmp sgt i32 %width, 0
  br i1 %any, label %loop, label %done
loop:
  %c = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %i = sext i32 %c to i64
  %at = getelementptr float, ptr addrspace(1) %row, i64 %i
  %value = load float, ptr addrspace(1) %at, align 4
  %more.sum = fadd float %sum, %value
  %next = add nsw i32 %c, 1
  %last = icmp eq i32 %next, %width
  br i1 %last, label %done, label %loop
done:
  %all = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %all, ptr addrspace(1) %to, align 4
  ret void
}

; This one may wrap around: it starts anywhere.
; CHECK-LABEL: define void @wrapping_index
; CHECK: loop:
; CHECK: phi i32
; CHECK: %[[NEXT:.*]] = add i32 %c, 1
; CHECK: zext i32 %[[NEXT]] to i64
; CHECK: add i32 %c, 15
define void @wrapping_index(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i32 %start, i32 %end) {
entry:
  %row = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %c = phi i32 [ %start, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more.sum, %loop ]
  %i = zext i32 %c to i64
  %at = getelementptr float, ptr addrspace(1) %row, i64 %i
  %value = load float, ptr addrspace(1) %at, align 4
  %more.sum = fadd float %sum, %value
  %next = add i32 %c, 1
  %last = icmp eq i32 %next, %end
  br i1 %last, label %done, label %loop
done:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %more.sum, ptr addrspace(1) %to, align 4
  ret void
}

; Twelve elements are not a whole number of cache lines: eight are read, then four.
; CHECK-LABEL: define void @twelve
; CHECK: %[[FIRST:.*]] = getelementptr float, ptr addrspace(1) %row, i64 %
; CHECK: getelementptr i8, ptr addrspace(1) %[[FIRST]], i64 28
; CHECK-NOT: , i64 32
; CHECK: ret void
define void @twelve(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v) {
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
  %more = icmp ult i64 %next, 12
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

; Iterations may read several elements of the row: here four, so four iterations become one.
; CHECK-LABEL: define void @several
; CHECK: getelementptr i8, ptr addrspace(1) %{{.*}}, i64 60
; CHECK: load float
; CHECK: icmp ult i64 %{{.*}}, 64
define void @several(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
entry:
  %thread = zext i32 %x to i64
  %start = shl i64 %thread, 12
  %row = getelementptr i8, ptr addrspace(1) %in, i64 %start
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum3, %loop ]
  %at0 = getelementptr float, ptr addrspace(1) %row, i64 %c
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %sum0 = fadd float %sum, %v0
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %sum1 = fadd float %sum0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %sum2 = fadd float %sum1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %sum3 = fadd float %sum2, %v3
  %next = add nuw i64 %c, 4
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %thread
  store float %sum3, ptr addrspace(1) %to, align 4
  ret void
}

; Lanes that read one element of several do not read a row.
; CHECK-LABEL: define void @one_of_four
; CHECK: %v0 = load float
; CHECK-NOT: load float
; CHECK: ret void
define void @one_of_four(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
entry:
  %thread = zext i32 %x to i64
  %start = shl i64 %thread, 12
  %row = getelementptr i8, ptr addrspace(1) %in, i64 %start
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum0, %loop ]
  %at0 = getelementptr float, ptr addrspace(1) %row, i64 %c
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %sum0 = fadd float %sum, %v0
  %next = add nuw i64 %c, 4
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %thread
  store float %sum0, ptr addrspace(1) %to, align 4
  ret void
}
