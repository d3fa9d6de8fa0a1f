; RUN: descending-barriers
; A thread reads an element before its own, and writes its own. If threads run from the last one on, they need not wait in
; between. They wait before the loop, and before the next iteration reads what this one has written.
; CHECK-LABEL: define void @prefix_sums(
; CHECK: call void @__metal_barrier(i32 1, i32 2){{$}}
; CHECK: join:
; CHECK: call void @__metal_barrier(i32 1, i32 2), !simd.descending
; CHECK: call void @__metal_barrier(i32 1, i32 2){{$}}
declare void @__metal_barrier(i32, i32)
define void @prefix_sums(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 range(i32 0, 1024) %index, i32 %lane, i1 %active) {
entry:
  %memory = load ptr, ptr %group, !invariant.load !0
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  %place = zext i32 %x to i64
  %own.at = getelementptr float, ptr addrspace(3) %tile, i64 %place
  store float 1.0, ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  br label %loop
loop:
  %distance = phi i32 [ 1, %entry ], [ %twice, %join ]
  %none = icmp ugt i32 %distance, %x
  br i1 %none, label %join, label %read
read:
  %before = sub i32 %x, %distance
  %other.place = sext i32 %before to i64
  %other.at = getelementptr float, ptr addrspace(3) %tile, i64 %other.place
  %loaded = load float, ptr addrspace(3) %other.at
  br label %join
join:
  %other = phi float [ %loaded, %read ], [ 0.0, %loop ]
  call void @__metal_barrier(i32 1, i32 2)
  %own = load float, ptr addrspace(3) %own.at
  %sum = fadd float %own, %other
  store float %sum, ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  %twice = shl i32 %distance, 1
  %more = icmp ult i32 %twice, 512
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Here the number is not known to be at most that of the thread.
; CHECK-LABEL: define void @unguarded(
; CHECK-NOT: !simd.descending
; CHECK: ret void
define void @unguarded(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 range(i32 0, 1024) %index, i32 %lane, i1 %active) {
  %memory = load ptr, ptr %group, !invariant.load !0
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  call void @__metal_barrier(i32 1, i32 2)
  %distance = load i32, ptr %group, !invariant.load !0
  %before = sub i32 %x, %distance
  %other.place = sext i32 %before to i64
  %other.at = getelementptr float, ptr addrspace(3) %tile, i64 %other.place
  %other = load float, ptr addrspace(3) %other.at
  call void @__metal_barrier(i32 1, i32 2)
  %place = zext i32 %x to i64
  %own.at = getelementptr float, ptr addrspace(3) %tile, i64 %place
  store float %other, ptr addrspace(3) %own.at
  ret void
}

; An element behind its own, one that all threads read, part of an element before, and memory that is another one for each
; thread.
; CHECK-LABEL: define void @others(
; CHECK-NOT: !simd.descending
; CHECK: ret void
define void @others(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 range(i32 0, 1024) %index, i32 %lane, i1 %active) {
  %memory = load ptr, ptr %group, !invariant.load !0
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  %place = zext i32 %x to i64
  %own.at = getelementptr float, ptr addrspace(3) %tile, i64 %place
  %behind.at = getelementptr i8, ptr addrspace(3) %own.at, i64 4
  call void @__metal_barrier(i32 1, i32 2)
  %behind = load float, ptr addrspace(3) %behind.at
  call void @__metal_barrier(i32 1, i32 2)
  store float %behind, ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  %first = load float, ptr addrspace(3) %tile
  call void @__metal_barrier(i32 1, i32 2)
  store float %first, ptr addrspace(3) %tile
  call void @__metal_barrier(i32 1, i32 2)
  %two = load <2 x float>, ptr addrspace(3) %own.at, align 4
  call void @__metal_barrier(i32 1, i32 2)
  store <2 x float> %two, ptr addrspace(3) %own.at, align 4
  call void @__metal_barrier(i32 1, i32 2)
  %moved = load ptr addrspace(3), ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  %moved.at = getelementptr float, ptr addrspace(3) %moved, i64 %place
  store float 1.0, ptr addrspace(3) %moved.at
  ret void
}

; The first phase starts with the first gang. Other memory does not matter, and neither do atomic operations that are on the
; other side of a barrier that stays.
; CHECK-LABEL: define void @first(
; CHECK: load float
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2){{$}}
; CHECK-NEXT: store float
; CHECK-NEXT: store float
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2), !simd.descending
; CHECK-NEXT: store float
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2){{$}}
; CHECK-NEXT: atomicrmw
define void @first(ptr %group, i32 range(i32 0, 1024) %x, i32 %y, i32 %z, i32 range(i32 0, 1024) %index, i32 %lane, i1 %active, ptr addrspace(1) %out) {
  %memory = load ptr, ptr %group, !invariant.load !0
  %tile = addrspacecast ptr %memory to ptr addrspace(3)
  %place = zext i32 %index to i64
  %own.at = getelementptr float, ptr addrspace(3) %tile, i64 %place
  %own = load float, ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  store float %own, ptr addrspace(3) %own.at
  store float %own, ptr addrspace(1) %out
  call void @__metal_barrier(i32 1, i32 2)
  store float 1.0, ptr addrspace(3) %own.at
  call void @__metal_barrier(i32 1, i32 2)
  %old = atomicrmw add ptr addrspace(3) %tile, i32 1 monotonic
  ret void
}
!0 = !{}
