; RUN: nvptx-retarget,nvptx-optimize
; A loop whose numbers might wrap around gets a copy for the case that they do not. That reads eight
; elements at a time, if nothing that it writes is read.
; CHECK-LABEL: define void @apart(
; CHECK: %[[MOST:.*]] = xor i32 %step, -1
; CHECK: icmp uge i32 %[[MOST]], %end
; CHECK: icmp ne i32 %step, 0
; CHECK: udiv i32 %{{.*}}, %step
; CHECK-COUNT-8: load float, ptr addrspace(1) %{{.*}}
; CHECK: br i1
; CHECK: load float
; CHECK: br i1
; CHECK: load float
; CHECK-NOT: load float
define void @apart(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out, i32 %first,
                              i32 %step, i32 %end) {
  %some = icmp ult i32 %first, %end
  br i1 %some, label %loop, label %done
loop:
  %k = phi i32 [ %first, %0 ], [ %sum, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %from
  %result = fadd float %value, 1.0
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %result, ptr addrspace(1) %to
  %sum = add i32 %k, %step
  %more = icmp ult i32 %sum, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @overlapping(
; CHECK-NOT: udiv
; CHECK: load float
; CHECK-NOT: load float
; CHECK: ret void
define void @overlapping(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %first,
                                    i32 %step, i32 %end) {
  %some = icmp ult i32 %first, %end
  br i1 %some, label %loop, label %done
loop:
  %k = phi i32 [ %first, %0 ], [ %sum, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %from
  %result = fadd float %value, 1.0
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %result, ptr addrspace(1) %to
  %sum = add i32 %k, %step
  %more = icmp ult i32 %sum, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
; CHECK-LABEL: define void @behind_barriers(
; CHECK-NOT: udiv
; CHECK: load float
; CHECK-NOT: load float
; CHECK: ret void
define void @behind_barriers(ptr addrspace(1) noalias readonly %in,
                                        ptr addrspace(1) %out, i32 %first, i32 %step, i32 %end) {
  %some = icmp ult i32 %first, %end
  br i1 %some, label %loop, label %done
loop:
  %k = phi i32 [ %first, %0 ], [ %sum, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %value, ptr addrspace(1) %to
  call void @llvm.nvvm.barrier0()
  %sum = add i32 %k, %step
  %more = icmp ult i32 %sum, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare void @llvm.nvvm.barrier0() #0
attributes #0 = { convergent nounwind }

; Addresses that move by a number of elements are such numbers, too.
; CHECK-LABEL: define void @pointers(
; CHECK: %[[BYTES:.*]] = shl i64 %step, 2
; CHECK: udiv i64 %{{.*}}, %[[BYTES]]
; CHECK-COUNT-8: load float, ptr addrspace(1) %{{.*}}
; CHECK: ret void
define void @pointers(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out, i64 %first,
                      i64 %step, i64 %count) {
  %start = getelementptr float, ptr addrspace(1) %in, i64 %first
  %end = getelementptr float, ptr addrspace(1) %in, i64 %count
  %some = icmp ult ptr addrspace(1) %start, %end
  br i1 %some, label %loop, label %done
loop:
  %p = phi ptr addrspace(1) [ %start, %0 ], [ %next, %loop ]
  %total = phi float [ 0.0, %0 ], [ %sum, %loop ]
  %value = load float, ptr addrspace(1) %p
  %sum = fadd float %total, %value
  %next = getelementptr float, ptr addrspace(1) %p, i64 %step
  %more = icmp ult ptr addrspace(1) %next, %end
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %0 ], [ %sum, %loop ]
  store float %result, ptr addrspace(1) %out
  ret void
}

; A histogram: relaxed atomic operations do not keep reads of later iterations back.
; CHECK-LABEL: define void @histogram(
; CHECK: udiv i32
; CHECK-COUNT-8: atomicrmw
; CHECK: ret void
define void @histogram(ptr addrspace(1) noalias readonly %in, ptr addrspace(3) %counts, i32 %first,
                       i32 %step, i32 %end) {
  %some = icmp ult i32 %first, %end
  br i1 %some, label %loop, label %done
loop:
  %k = phi i32 [ %first, %0 ], [ %sum, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %index
  %bin = load i32, ptr addrspace(1) %from
  %count = getelementptr i32, ptr addrspace(3) %counts, i32 %bin
  %before = atomicrmw add ptr addrspace(3) %count, i32 1 monotonic
  %sum = add i32 %k, %step
  %more = icmp ult i32 %sum, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Lanes that share a row of 4096 elements all run 128 iterations. They come to an exchange together, and four elements are
; read at a time.
; CHECK-LABEL: define void @scan(
; CHECK-NOT: udiv
; CHECK-COUNT-4: call float @__metal_simd_prefix_inclusive_sum_f32(
; CHECK: icmp eq i32 %{{.*}}, 128
; CHECK-NOT: call float
; CHECK: ret void
define void @scan(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out) {
  %lane = call range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %loop
loop:
  %k = phi i32 [ %lane, %0 ], [ %sum, %loop ]
  %total = phi float [ 0.0, %0 ], [ %last, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %from
  %before = call float @__metal_simd_prefix_inclusive_sum_f32(float %value) #0
  %last = fadd float %total, %before
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %last, ptr addrspace(1) %to
  %sum = add i32 %k, 32
  %more = icmp ult i32 %sum, 4096
  br i1 %more, label %loop, label %done
done:
  ret void
}

; If the row ends in the middle of an iteration, some lanes leave the loop earlier.
; CHECK-LABEL: define void @ragged(
; CHECK: call float @__metal_simd_prefix_inclusive_sum_f32(
; CHECK-NOT: call float
; CHECK: ret void
define void @ragged(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out) {
  %lane = call range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %loop
loop:
  %k = phi i32 [ %lane, %0 ], [ %sum, %loop ]
  %index = zext i32 %k to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %from
  %before = call float @__metal_simd_prefix_inclusive_sum_f32(float %value) #0
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %before, ptr addrspace(1) %to
  %sum = add i32 %k, 32
  %more = icmp ult i32 %sum, 4100
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare float @__metal_simd_prefix_inclusive_sum_f32(float) #0
