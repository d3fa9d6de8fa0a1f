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
; Loads from device memory count as several instructions, as lanes may read from places that are apart: 7 * 7 * 7 of them
; are too many, and only the two inner loops are marked.
; CHECK-LABEL: define void @loads
; CHECK: br i1 %more_y, label %inner, label %after, !llvm.loop !
; CHECK: br i1 %more_x, label %middle, label %behind, !llvm.loop !
; CHECK: br i1 %more_z, label %outer, label %done{{$}}
define void @loads(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %places = alloca [7 x i32]
  br label %outer
outer:
  %z = phi i32 [ 0, %entry ], [ %next_z, %behind ]
  %z_sum = phi float [ 0.0, %entry ], [ %sum, %behind ]
  %z_at = getelementptr i32, ptr %places, i32 %z
  %z_place = load i32, ptr %z_at
  br label %middle
middle:
  %x = phi i32 [ 0, %outer ], [ %next_x, %after ]
  %x_sum = phi float [ %z_sum, %outer ], [ %sum, %after ]
  %x_at = getelementptr i32, ptr %places, i32 %x
  %x_place = load i32, ptr %x_at
  %zx = add i32 %z_place, %x_place
  br label %inner
inner:
  %y = phi i32 [ 0, %middle ], [ %next_y, %inner ]
  %y_sum = phi float [ %x_sum, %middle ], [ %sum, %inner ]
  %y_at = getelementptr i32, ptr %places, i32 %y
  %y_place = load i32, ptr %y_at
  %place = add i32 %zx, %y_place
  %at = getelementptr [2 x float], ptr addrspace(1) %in, i32 %place
  %value = load float, ptr addrspace(1) %at
  %second = getelementptr float, ptr addrspace(1) %at, i32 1
  %other = load float, ptr addrspace(1) %second
  %pair = fadd float %value, %other
  %sum = fadd float %y_sum, %pair
  %next_y = add nuw i32 %y, 1
  %more_y = icmp ult i32 %next_y, 7
  br i1 %more_y, label %inner, label %after
after:
  %next_x = add nuw i32 %x, 1
  %more_x = icmp ult i32 %next_x, 7
  br i1 %more_x, label %middle, label %behind
behind:
  %next_z = add nuw i32 %z, 1
  %more_z = icmp ult i32 %next_z, 7
  br i1 %more_z, label %outer, label %done
done:
  store float %sum, ptr addrspace(1) %out
  ret void
}
; CHECK: ![[MARK]] = distinct !{![[MARK]], ![[UNROLL:.*]]}
; CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.full", i32 1}
