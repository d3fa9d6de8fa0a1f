; RUN: unroll-private 32 x86-64-v4
; Short loops that add products of matrices are marked for the unroller.
declare i64 @__metal_simdgroup_multiply_accumulate_f32(float, float, float, float, float, float)
declare void @__metal_barrier(i32, i32)
; CHECK-LABEL: define void @products
; CHECK: br i1 %more, label %loop, label %done, !llvm.loop ![[MARK:.*]]
define void @products(ptr addrspace(1) %out, float %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %a, float %a, float %a, float %a, float 0.0, float 0.0)
  store i64 %sum, ptr addrspace(1) %out
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 2
  br i1 %more, label %loop, label %done
done:
  ret void
}
; They are not if they have threadgroup barriers.
; CHECK-LABEL: define void @barriers
; CHECK: br i1 %more, label %loop, label %done{{$}}
define void @barriers(ptr addrspace(1) %out, float %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %a, float %a, float %a, float %a, float 0.0, float 0.0)
  store i64 %sum, ptr addrspace(1) %out
  call void @__metal_barrier(i32 1, i32 2)
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 2
  br i1 %more, label %loop, label %done
done:
  ret void
}
; Barriers of a SIMD-group do not count.
; CHECK-LABEL: define void @simdgroup_barriers
; CHECK: br i1 %more, label %loop, label %done, !llvm.loop
define void @simdgroup_barriers(ptr addrspace(1) %out, float %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = call i64 @__metal_simdgroup_multiply_accumulate_f32(float %a, float %a, float %a, float %a, float 0.0, float 0.0)
  store i64 %sum, ptr addrspace(1) %out
  call void @__metal_barrier(i32 0, i32 2)
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 2
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK: ![[MARK]] = distinct !{![[MARK]], ![[UNROLL:.*]]}
; CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.full", i32 1}
