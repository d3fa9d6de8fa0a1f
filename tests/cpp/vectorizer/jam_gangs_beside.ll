; RUN: jam-gangs-beside 8
; Four gangs beside each other multiply their rows by the squares of a vector. These are computed once for all; each gang
; has its own row and sum. %x and %index are those of the first gang.
; CHECK-LABEL: define void @multiplies.{{.*}}(
; CHECK: loop:
; CHECK-COUNT-4: phi <8 x float>
; CHECK: load <8 x float>, ptr addrspace(1) %at,
; CHECK-NOT: load <8 x float>, ptr addrspace(1) %at,
; CHECK-COUNT-4: load <8 x float>, ptr addrspace(1) %in_row{{[0-9]*}},
; CHECK-NOT: load
; CHECK-COUNT-4: fadd <8 x float>
; CHECK: exit:
; CHECK-COUNT-4: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
define void @multiplies(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %vector = addrspacecast ptr %group to ptr addrspace(1)
  %rows = getelementptr float, ptr addrspace(1) %vector, i32 65536
  %row = lshr i32 %x, 3
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(1) %vector, i32 %i
  %value = load <8 x float>, ptr addrspace(1) %at
  %in_row = getelementptr [64 x <8 x float>], ptr addrspace(1) %rows, i32 %row, i32 %i
  %weight = load <8 x float>, ptr addrspace(1) %in_row
  %square = fmul <8 x float> %value, %value
  %product = fmul <8 x float> %square, %weight
  %more = fadd <8 x float> %sum, %product
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %row
  store <8 x float> %more, ptr %out
  ret void
}

; A gang beyond the last row leaves. If any of the four does, the set bails out before it has effects.
; CHECK-LABEL: define i1 @guarded{{.*}}(
; CHECK: entry:
; CHECK-COUNT-4: icmp ult i32
; CHECK-COUNT-2: select i1 %{{.*}}, i1 %{{.*}}, i1 false
; CHECK: %[[ALL:.*]] = select i1 %{{.*}}, i1 %{{.*}}, i1 false
; CHECK-NEXT: br i1 %[[ALL]], label %loop.preheader, label %bail.out
; CHECK-COUNT-4: store <8 x float>
; CHECK: ret i1 true
; CHECK: bail.out:
; CHECK-NEXT: ret i1 false
define void @guarded(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %vector = addrspacecast ptr %group to ptr addrspace(1)
  %rows = getelementptr float, ptr addrspace(1) %vector, i32 65536
  %row = lshr i32 %x, 3
  %inside = icmp ult i32 %row, 1000
  br i1 %inside, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr addrspace(1) %vector, i32 %i
  %value = load <8 x float>, ptr addrspace(1) %at
  %in_row = getelementptr [64 x <8 x float>], ptr addrspace(1) %rows, i32 %row, i32 %i
  %weight = load <8 x float>, ptr addrspace(1) %in_row
  %square = fmul <8 x float> %value, %value
  %product = fmul <8 x float> %square, %weight
  %more = fadd <8 x float> %sum, %product
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %row
  store <8 x float> %more, ptr %out
  br label %end
end:
  ret void
}

; Not after an effect: gangs that ran again would have it twice.
; CHECK-NOT: @late_guard.
define void @late_guard(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  %row = lshr i32 %x, 3
  %out = getelementptr <8 x float>, ptr %group, i32 %row
  store <8 x float> zeroinitializer, ptr %out
  %inside = icmp ult i32 %row, 1000
  br i1 %inside, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr %group, i32 %i
  %value = load <8 x float>, ptr %at
  %product = fmul <8 x float> %value, %value
  %more = fadd <8 x float> %sum, %product
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  store <8 x float> %more, ptr %out
  br label %end
end:
  ret void
}

; Nor if a call may let gangs see each other, or if gangs leave the loop at different times.
; CHECK-NOT: @calls.
declare void @unknown()
define void @calls(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr %group, i32 %i
  %value = load <8 x float>, ptr %at
  %more = fadd <8 x float> %sum, %value
  call void @unknown()
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %x
  store <8 x float> %more, ptr %out
  ret void
}

; CHECK-NOT: @own_counts.
define void @own_counts(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %at = getelementptr <8 x float>, ptr %group, i32 %i
  %value = load <8 x float>, ptr %at
  %more = fadd <8 x float> %sum, %value
  %next = add i32 %i, 1
  %done = icmp ugt i32 %next, %x
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x float>, ptr %group, i32 %x
  store <8 x float> %more, ptr %out
  ret void
}

; Nor if gangs only share the numbers of lanes: nothing that they read.
; CHECK-NOT: @lane_numbers.
define void @lane_numbers(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %numbers = phi <8 x i32> [ zeroinitializer, %entry ], [ %later, %loop ]
  %sum = phi <8 x i32> [ zeroinitializer, %entry ], [ %more, %loop ]
  %in_row = getelementptr [64 x <8 x i32>], ptr %group, i32 %x, i32 %i
  %value = load <8 x i32>, ptr %in_row
  %square = mul <8 x i32> %numbers, %numbers
  %product = mul <8 x i32> %square, %value
  %more = add <8 x i32> %sum, %product
  %later = add <8 x i32> %numbers, <i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8>
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %out = getelementptr <8 x i32>, ptr %group, i32 %x
  store <8 x i32> %more, ptr %out
  ret void
}
