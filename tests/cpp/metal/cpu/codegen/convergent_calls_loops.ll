; RUN: convergent-calls
; If threads wait in some iterations of a loop only, they reconverge at the end of each iteration. Otherwise one would
; wait in its second iteration for another in its first. The call after the loop has the largest number, although the
; path to it is shorter.
; CHECK-LABEL: define void @kernel.body(
; CHECK: some:
; CHECK-NEXT: call i32 @metal_cpu_simd_sum(ptr %group, i32 0, i32 %i)
; CHECK: latch:
; CHECK: call void @metal_cpu_reconverge(ptr %group, i32 1)
; CHECK-NEXT: br i1 %more, label %loop
; If all threads wait in each iteration, they need no other call to reconverge.
; CHECK: always:
; CHECK: call void @metal_cpu_barrier(ptr %group, i32 2, i32 1, i32 2)
; CHECK-NOT: reconverge
; CHECK: br i1 %on, label %always
; CHECK: done:
; CHECK: call i32 @metal_cpu_simd_sum(ptr %group, i32 3, i32 7)
define void @kernel.body(ptr align 8 dereferenceable(80) %group, i32 %thread) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %wanted = icmp eq i32 %i, %thread
  br i1 %wanted, label %some, label %latch
some:
  %sum = call i32 @__metal_simd_sum(i32 %i)
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 8
  br i1 %more, label %loop, label %between
between:
  br label %always
always:
  %k = phi i32 [ 0, %between ], [ %k.next, %always ]
  call void @__metal_barrier(i32 1, i32 2)
  %k.next = add i32 %k, 1
  %on = icmp ult i32 %k.next, 8
  br i1 %on, label %always, label %done
done:
  %last = call i32 @__metal_simd_sum(i32 7)
  ret void
}
declare i32 @__metal_simd_sum(i32)
declare void @__metal_barrier(i32, i32)
