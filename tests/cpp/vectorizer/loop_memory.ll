; RUN: loop-memory
; A value that a loop keeps in memory is stored before the loop and loaded behind it.
declare void @add(ptr nocapture)
declare void @keep(ptr)
; CHECK-LABEL: define void @sum
; CHECK: store <4 x float> %start, ptr %memory
; CHECK: loop:
; CHECK-NOT: load
; CHECK-NOT: store
; CHECK: call void @add(ptr %memory)
; CHECK: done:
; CHECK-NEXT: %sum = load <4 x float>, ptr %memory
; CHECK-NEXT: store <4 x float> %sum, ptr addrspace(1) %out
define void @sum(ptr addrspace(1) %out, <4 x float> %start, i32 %count) {
entry:
  %memory = alloca <4 x float>
  br label %loop
loop:
  %before = phi <4 x float> [ %start, %entry ], [ %sum, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store <4 x float> %before, ptr %memory
  call void @add(ptr %memory)
  %sum = load <4 x float>, ptr %memory
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  store <4 x float> %sum, ptr addrspace(1) %out
  ret void
}
; Also before a loop around that, whatever else that does.
; CHECK-LABEL: define void @sums_of_tiles
; CHECK: store <4 x float> %start, ptr %memory
; CHECK-NEXT: br label %tile
; CHECK: tile:
; CHECK-NOT: store
; CHECK: call void @add(ptr %memory)
; CHECK-NOT: store
; CHECK: done:
; CHECK: store <4 x float> %{{.*}}, ptr addrspace(1) %out
define void @sums_of_tiles(ptr addrspace(1) %out, <4 x float> %start, i32 %count, i1 %again) {
entry:
  %memory = alloca <4 x float>
  br label %tile
tile:
  %before = phi <4 x float> [ %start, %entry ], [ %sum, %tile.done ]
  call void @wait()
  br label %loop
loop:
  %so.far = phi <4 x float> [ %before, %tile ], [ %sum, %loop ]
  %i = phi i32 [ 0, %tile ], [ %next, %loop ]
  store <4 x float> %so.far, ptr %memory
  call void @add(ptr %memory)
  %sum = load <4 x float>, ptr %memory
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %tile.done
tile.done:
  br i1 %again, label %tile, label %done
done:
  store <4 x float> %sum, ptr addrspace(1) %out
  ret void
}
declare void @wait()
; Not where another write may come after the load.
; CHECK-LABEL: define void @written_later
; CHECK: loop:
; CHECK: store <4 x float> %before, ptr %memory
define void @written_later(ptr addrspace(1) %out, <4 x float> %start, i1 %again, i1 %more) {
entry:
  %memory = alloca <4 x float>
  br label %loop
loop:
  %before = phi <4 x float> [ %start, %entry ], [ %sum, %latch ]
  store <4 x float> %before, ptr %memory
  call void @add(ptr %memory)
  %sum = load <4 x float>, ptr %memory
  br i1 %again, label %write, label %latch
write:
  call void @add(ptr %memory)
  br label %latch
latch:
  br i1 %more, label %loop, label %done
done:
  store <4 x float> %sum, ptr addrspace(1) %out
  ret void
}
; Nor where others may know the memory.
; CHECK-LABEL: define void @known
; CHECK: loop:
; CHECK: store <4 x float> %before, ptr %memory
define void @known(<4 x float> %start, i1 %more) {
entry:
  %memory = alloca <4 x float>
  br label %loop
loop:
  %before = phi <4 x float> [ %start, %entry ], [ %sum, %loop ]
  store <4 x float> %before, ptr %memory
  call void @keep(ptr %memory)
  %sum = load <4 x float>, ptr %memory
  br i1 %more, label %loop, label %done
done:
  ret void
}
