; RUN: order-simdgroups
; All SIMD-groups read the same elements, then some lanes write there, without a barrier in between. One is inserted at
; the last place that all threads reach.
; CHECK-LABEL: define void @overwrites
; CHECK: load float, ptr addrspace(3)
; CHECK-NEXT: call float @__metal_simd_max_f32
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2) #{{[0-9]+}}, !metal.order
; CHECK-NEXT: br i1 %leads
define void @overwrites() {
entry:
  %lane = call i32 @__metal_get_thread_index_in_simdgroup(i32 0)
  %group = call i32 @__metal_get_simdgroup_index_in_threadgroup(i32 0)
  %leads = icmp eq i32 %lane, 0
  call void @__metal_barrier(i32 1, i32 2)
  %place = getelementptr float, ptr addrspace(3) @shared, i32 %lane
  %part = load float, ptr addrspace(3) %place
  %all = call float @__metal_simd_max_f32(float %part)
  br i1 %leads, label %write, label %next
write:
  %own = getelementptr float, ptr addrspace(3) @shared, i32 %group
  store float %all, ptr addrspace(3) %own
  br label %next
next:
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
; Some lanes of all SIMD-groups read.
; CHECK-LABEL: define void @guards
; CHECK: next:
; CHECK: call void @__metal_barrier(i32 1, i32 2) #{{[0-9]+}}, !metal.order
; CHECK-NEXT: store float
define void @guards() {
entry:
  %lane = call i32 @__metal_get_thread_index_in_simdgroup(i32 0)
  %thread = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  %groups = call i32 @__metal_get_simdgroups_per_threadgroup(i32 0)
  call void @__metal_barrier(i32 1, i32 2)
  %there = icmp ult i32 %lane, %groups
  br i1 %there, label %read, label %next
read:
  %place = getelementptr float, ptr addrspace(3) @shared, i32 %lane
  %part = load float, ptr addrspace(3) %place
  br label %next
next:
  %x = phi float [ %part, %read ], [ 0.0, %entry ]
  %own = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  store float %x, ptr addrspace(3) %own
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
; The write of the next iteration counts, too.
; CHECK-LABEL: define void @loops
; CHECK: loop:
; CHECK: call void @__metal_barrier(i32 1, i32 2) #{{[0-9]+}}, !metal.order
; CHECK-NEXT: store float
; CHECK-NEXT: call void @__metal_barrier(i32 1, i32 2)
; CHECK-NOT: call void @__metal_barrier
define void @loops(ptr addrspace(2) %count) {
entry:
  %lane = call i32 @__metal_get_thread_index_in_simdgroup(i32 0)
  %thread = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  %n = load i32, ptr addrspace(2) %count
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %x = phi float [ 0.0, %entry ], [ %part, %loop ]
  %own = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  store float %x, ptr addrspace(3) %own
  call void @__metal_barrier(i32 1, i32 2)
  %place = getelementptr float, ptr addrspace(3) @shared, i32 %lane
  %part = load float, ptr addrspace(3) %place
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
; What all SIMD-groups read may have been moved to where a condition needs it.
; CHECK-LABEL: define void @moved
; CHECK: next:
; CHECK: call void @__metal_barrier(i32 1, i32 2) #{{[0-9]+}}, !metal.order
; CHECK-NEXT: store float
define void @moved() {
entry:
  %thread = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  call void @__metal_barrier(i32 1, i32 2)
  %there = icmp ult i32 %thread, 40
  br i1 %there, label %read, label %next
read:
  %part = load float, ptr addrspace(3) @shared
  br label %next
next:
  %x = phi float [ %part, %read ], [ 0.0, %entry ]
  %own = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  store float %x, ptr addrspace(3) %own
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
; No barrier is inserted if there is one, if another variable is written, if each SIMD-group reads its own elements, or
; if only one SIMD-group reads.
; CHECK-LABEL: define void @right
; CHECK-NOT: metal.order
define void @right(ptr addrspace(3) %other) {
entry:
  %lane = call i32 @__metal_get_thread_index_in_simdgroup(i32 0)
  %group = call i32 @__metal_get_simdgroup_index_in_threadgroup(i32 0)
  %thread = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
  %place = getelementptr float, ptr addrspace(3) @shared, i32 %lane
  %own = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  %first = load float, ptr addrspace(3) %place
  call void @__metal_barrier(i32 1, i32 2)
  store float %first, ptr addrspace(3) %own
  call void @__metal_barrier(i32 1, i32 2)
  %second = load float, ptr addrspace(3) %place
  store float %second, ptr addrspace(3) %other
  call void @__metal_barrier(i32 1, i32 2)
  %third = load float, ptr addrspace(3) %own
  store float %third, ptr addrspace(3) %own
  call void @__metal_barrier(i32 1, i32 2)
  %reads = icmp eq i32 %group, 0
  br i1 %reads, label %one, label %next
one:
  %fourth = load float, ptr addrspace(3) %place
  store float %fourth, ptr addrspace(3) @shared
  br label %next
next:
  call void @__metal_barrier(i32 1, i32 2)
  %few = icmp ult i32 %thread, 32
  %wanted = icmp ne i32 %lane, 5
  %both = and i1 %wanted, %few
  br i1 %both, label %first_group, label %last
first_group:
  %fifth = load float, ptr addrspace(3) @shared
  store float %fifth, ptr addrspace(3) %place
  br label %last
last:
  call void @__metal_barrier(i32 1, i32 2)
  ret void
}
@shared = internal addrspace(3) global [32 x float] undef
declare i32 @__metal_get_thread_index_in_simdgroup(i32)
declare i32 @__metal_get_simdgroup_index_in_threadgroup(i32)
declare i32 @__metal_get_thread_index_in_threadgroup(i32)
declare i32 @__metal_get_simdgroups_per_threadgroup(i32)
declare void @__metal_barrier(i32, i32) convergent
declare float @__metal_simd_max_f32(float) convergent
