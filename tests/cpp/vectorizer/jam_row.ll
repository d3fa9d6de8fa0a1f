; RUN: jam-row 8
; Every gang of a row reads a piece of each row of a matrix. Eight gangs at once read eight pieces, one after the other.
; CHECK-LABEL: define void @columns.{{.*}}(
; CHECK: loop:
; CHECK-COUNT-8: phi <8 x float>
; CHECK-COUNT-8: load <8 x float>
; CHECK-COUNT-8: fadd <8 x float>
; CHECK: br i1 %done
; CHECK-COUNT-8: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
define void @columns(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %in = addrspacecast ptr %group to ptr addrspace(1)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %row = shl i32 %i, 12
  %place = add i32 %row, %x
  %wide = zext i32 %place to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load <8 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <8 x float> %sum, %value
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr float, ptr addrspace(1) %in, i32 %x
  store <8 x float> %more, ptr addrspace(1) %out, align 4
  ret void
}

; If a guard may keep gangs out, all eight pass it, or none runs here.
; CHECK-LABEL: define i1 @guarded.{{.*}}(
; CHECK-COUNT-8: icmp {{.*}}%size
; CHECK: br i1 %{{.*}}, label %{{.*}}, label %bail.out
; CHECK-COUNT-8: load <8 x float>
; CHECK: ret i1 true
; CHECK: bail.out:
; CHECK-NEXT: ret i1 false
define void @guarded(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %size = load i32, ptr addrspace(1) %in
  %inside = icmp ult i32 %x, %size
  br i1 %inside, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %row = mul i32 %i, %size
  %place = add i32 %row, %x
  %wide = zext i32 %place to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load <8 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <8 x float> %sum, %value
  %next = add nuw nsw i32 %i, 1
  %last = icmp eq i32 %next, 64
  br i1 %last, label %exit, label %loop
exit:
  %out = getelementptr float, ptr addrspace(1) %in, i32 %x
  store <8 x float> %more, ptr addrspace(1) %out, align 4
  br label %done
done:
  ret void
}

; Gangs that read far from each other, in rows of their own, are not jammed; neither are those with a short way from one
; iteration to the next, which read on where they were.
; CHECK-NOT: define {{.*}} @apart.{{.*}}(
; CHECK-NOT: define {{.*}} @near.{{.*}}(
define void @apart(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %start = shl i32 %x, 12
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %offset = shl i32 %i, 10
  %place = add i32 %start, %offset
  %at = getelementptr float, ptr addrspace(1) %in, i32 %place
  %value = load <8 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <8 x float> %sum, %value
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr float, ptr addrspace(1) %in, i32 %x
  store <8 x float> %more, ptr addrspace(1) %out, align 4
  ret void
}
define void @near(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %in = addrspacecast ptr %group to ptr addrspace(1)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %place = add i32 %x, %i
  %at = getelementptr float, ptr addrspace(1) %in, i32 %place
  %value = load <8 x float>, ptr addrspace(1) %at, align 4
  %more = fadd <8 x float> %sum, %value
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr float, ptr addrspace(1) %in, i32 %x
  store <8 x float> %more, ptr addrspace(1) %out, align 4
  ret void
}
