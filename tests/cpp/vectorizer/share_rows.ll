; RUN: share-rows 4
; Every lane writes a row. The lanes share each of them: a lane takes every fourth iteration. At the end of a row, some take one
; more. The loop itself is for gangs in which a lane does not run it, and for short rows.
; CHECK-LABEL: define void @rows
; CHECK: %[[ALL:.*]] = call i1 @simd.all_run()
; CHECK: %[[LONG:.*]] = icmp uge i64 %[[COUNT:.*]], 32
; CHECK: %[[EACH:.*]] = call i1 @simd.all(i1 %[[LONG]])
; CHECK: %[[SHARES:.*]] = and i1 %[[ALL]], %[[EACH]]
; CHECK: br i1 %[[SHARES]], label %rows
; CHECK: rows:
; CHECK: %row = phi i32 [ %[[NEXT_ROW:.*]], %row.end ], [ 0, %{{.*}} ]
; CHECK: call i32 @__metal_simd_shuffle_i32(i32 %{{.*}}, i32 %row)
; CHECK: together:
; CHECK: %first = phi i64 [ 0, %rows ], [ %[[END:.*]], %together ]
; CHECK: %[[FIRST:.*]] = trunc i64 %first to i32
; CHECK: add nuw i32 %[[FIRST]], %lane
; CHECK: store float
; CHECK: %[[END]] = add nuw nsw i64 %first, 4
; CHECK: br i1 %{{.*}}, label %together, label %more
; CHECK: more:
; CHECK: %[[NUMBER:.*]] = add i64 %[[END]], %{{.*}}
; CHECK: %[[LEFT:.*]] = icmp ult i64 %[[NUMBER]], %{{.*}}
; CHECK: br i1 %[[LEFT]], label %rest, label %row.end
; CHECK: rest:
; CHECK: store float
; CHECK: row.end:
; CHECK: %[[NEXT_ROW]] = add i32 %row, 1
; CHECK: br i1 %{{.*}}, label %rows, label %rows.end
define void @rows(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x, i32 %width, i32 %lane) {
entry:
  %begin = mul i32 %x, %width
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %next, %loop ]
  %i = add i32 %begin, %c
  %wide = zext i32 %i to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %to = getelementptr float, ptr addrspace(1) %out, i64 %wide
  %value = load float, ptr addrspace(1) %from, align 4, !alias.scope !2, !noalias !3
  store float %value, ptr addrspace(1) %to, align 4, !alias.scope !3, !noalias !2
  %next = add nuw i32 %c, 1
  %again = icmp ult i32 %next, %width
  br i1 %again, label %loop, label %done
done:
  ret void
}

; A maximum of each row. No iterations are left at the end of a row. Each lane keeps the result of its own row.
; CHECK-LABEL: define void @largest
; CHECK: rows:
; CHECK: %[[SO_FAR:.*]] = phi float [ %[[KEPT:.*]], %row.end ], [ 0.000000e+00, %{{.*}} ]
; CHECK: together:
; CHECK: %[[MOST:.*]] = phi float [ 0xFFF0000000000000, %rows ], [ %[[MORE:.*]], %together ]
; CHECK: %[[MORE]] = call float @llvm.maxnum.f32(float %[[MOST]], float %{{.*}})
; CHECK: br i1 %{{.*}}, label %together, label %row.end
; CHECK: row.end:
; CHECK: %[[OWN:.*]] = icmp eq i32 %lane, %row
; CHECK: %[[OF_ROW:.*]] = call float @__metal_simd_max_f32(float %[[MORE]])
; CHECK: %[[KEPT]] = select i1 %[[OWN]], float %[[OF_ROW]], float %[[SO_FAR]]
; CHECK: done:
; CHECK: phi float [ %[[KEPT]], %rows.end ]
define void @largest(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i32 %lane) {
entry:
  %begin = getelementptr float, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %most = phi float [ 0xFFF0000000000000, %entry ], [ %larger, %loop ]
  %from = getelementptr float, ptr addrspace(1) %begin, i64 %c
  %value = load float, ptr addrspace(1) %from, align 4
  %larger = call float @llvm.maxnum.f32(float %most, float %value)
  %next = add nuw i64 %c, 1
  %again = icmp ult i64 %next, 128
  br i1 %again, label %loop, label %done
done:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %larger, ptr addrspace(1) %to, align 4
  ret void
}

; Sums of parts of a row may wrap around although the program's sums do not. What the program's sum starts with is added once.
; CHECK-LABEL: define void @sum
; CHECK: together:
; CHECK: %[[PART:.*]] = phi i32 [ 0, %rows ], [ %[[MORE:.*]], %together ]
; CHECK: %[[MORE]] = add i32 %[[PART]], %{{.*}}
; CHECK: call i32 @__metal_simd_sum_i32
; CHECK: rows.end:
; CHECK-NEXT: add i32 %start, %
define void @sum(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %v, i32 %start, i32 %lane) {
entry:
  %begin = getelementptr i32, ptr addrspace(1) %in, i64 %v
  br label %loop
loop:
  %c = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ %start, %entry ], [ %larger, %loop ]
  %from = getelementptr i32, ptr addrspace(1) %begin, i64 %c
  %value = load i32, ptr addrspace(1) %from, align 4
  %larger = add nsw i32 %sum, %value
  %next = add nuw i64 %c, 1
  %again = icmp ult i64 %next, 128
  br i1 %again, label %loop, label %done
done:
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %v
  store i32 %larger, ptr addrspace(1) %to, align 4
  ret void
}

declare float @llvm.maxnum.f32(float, float)

!0 = distinct !{!0}
!2 = !{!4}
!3 = !{!5}
!4 = distinct !{!4, !0}
!5 = distinct !{!5, !0}
