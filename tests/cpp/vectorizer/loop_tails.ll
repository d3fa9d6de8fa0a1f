; RUN: loop-tails
; The threads of a row share it. As long as the index is below the bound in all lanes, they run a copy of the loop, which
; they leave together. Those that have more to do go on in the loop itself.
; CHECK-LABEL: define float @row
; CHECK: loop.whole:
; CHECK-NEXT: %i.whole = phi i32 [ %x, %{{.*}} ], [ %next.whole, %loop.whole ]
; CHECK-NEXT: %sum.whole = phi float [ 0.000000e+00, %{{.*}} ], [ %more.whole, %loop.whole ]
; CHECK: %again.whole = icmp ult i32 %next.whole, %n
; CHECK-NEXT: %[[ALL:.*]] = call i1 @simd.all(i1 %again.whole)
; CHECK-NEXT: br i1 %[[ALL]], label %loop.whole, label %parting
; CHECK: parting:
; CHECK-NEXT: br i1 %again.whole, label %[[START:.*]], label %[[EXIT:.*]]
; CHECK: [[START]]:
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK-NEXT: %i = phi i32 [ %next.whole, %[[START]] ], [ %next, %loop ]
; CHECK-NEXT: %sum = phi float [ %more.whole, %[[START]] ], [ %more, %loop ]
; CHECK: br i1 %again, label %loop, label %[[EXIT]]
; CHECK: [[EXIT]]:
; CHECK: phi float [ %more, %loop ], [ %more.whole, %parting ]
define float @row(ptr addrspace(1) %in, i32 %n, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %x, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr addrspace(1) %in, i32 %i
  %value = load float, ptr addrspace(1) %at
  %more = fadd float %sum, %value
  %next = add i32 %i, 32
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret float %more
}

; The exit may be the other successor.
; CHECK-LABEL: define void @inverted
; CHECK: %[[STAYS:.*]] = xor i1 %over.whole, true
; CHECK-NEXT: %[[ALL:.*]] = call i1 @simd.all(i1 %[[STAYS]])
; CHECK-NEXT: br i1 %[[ALL]], label %loop.whole, label %parting
; CHECK: br i1 %[[STAYS]], label %{{.*}}, label %{{.*}}
define void @inverted(ptr addrspace(1) %out, i32 %n, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %x, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add i32 %i, 32
  %over = icmp uge i32 %next, %n
  br i1 %over, label %done, label %loop
done:
  ret void
}

; Lanes whose bounds differ leave the loop at any time, and in a uniform loop they do not part.
; CHECK-LABEL: define void @bounds_differ
; CHECK-NOT: whole
; CHECK-LABEL: define void @uniform
; CHECK-NOT: whole
; CHECK: ret void
define void @bounds_differ(ptr addrspace(1) %out, i32 %vary, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %x, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add i32 %i, 32
  %again = icmp ult i32 %next, %vary
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @uniform(ptr addrspace(1) %out, i32 %n, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %j = add i32 %i, %x
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %j
  store i32 %i, ptr addrspace(1) %at
  %next = add i32 %i, 32
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}

; What must not be copied stays alone, and so do atomic operations, which take longer than masks.
; CHECK-LABEL: define void @convergent
; CHECK-NOT: whole
; CHECK-LABEL: define void @atomic
; CHECK-NOT: whole
; CHECK: ret void
declare void @together() convergent
define void @convergent(i32 %n, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %x, %entry ], [ %next, %loop ]
  call void @together()
  %next = add i32 %i, 32
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @atomic(ptr addrspace(3) %counts, i32 %n, i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %x, %entry ], [ %next, %loop ]
  atomicrmw add ptr addrspace(3) %counts, i32 %i monotonic
  %next = add i32 %i, 32
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
