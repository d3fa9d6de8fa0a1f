; RUN: share-rows 4
; Rows differ in length. Lanes share them if there are enough iterations in all; they run those of a short row at once, as far as
; there are some. Numbers do not wrap around, as there are few.
; CHECK-LABEL: define void @sum
; CHECK: %[[COUNT:.*]] = select i1 %some, i64 %{{.*}}, i64 0
; CHECK: %[[FEW:.*]] = icmp ule i64 %[[COUNT]], 2147483647
; CHECK: call i1 @simd.all(i1 %[[FEW]])
; CHECK: call i1 @simd.all_run()
; CHECK: %[[SUM:.*]] = call i64 @__metal_simd_sum_i64(i64 %[[COUNT]])
; CHECK: icmp uge i64 %[[SUM]], 64
; CHECK: br i1 %{{.*}}, label %rows{{.*}}, label %{{.*}}
; CHECK: {{^}}rows:
; CHECK: %[[LONG:.*]] = icmp uge i64 %{{.*}}, 4
; CHECK: br i1 %[[LONG]], label %together{{.*}}, label %more
; CHECK: {{^}}together:
; CHECK: add nsw i32
; CHECK: {{^}}more:
; CHECK-DAG: phi i64 [ 0, %rows ], [ %{{.*}}, %{{.*}} ]
; CHECK-DAG: phi i32 [ 0, %rows ], [ %{{.*}}, %{{.*}} ]
; CHECK: br i1 %{{.*}}, label %rest, label %row.end
; CHECK: {{^}}rows.end:
; CHECK: %[[ALL:.*]] = add i32 7, %{{.*}}
; CHECK: select i1 %some, i32 %[[ALL]], i32 7
define void @sum(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vstart, i32 %vend, i64 %v, i32 %lane) {
entry:
  %some = icmp slt i32 %vstart, %vend
  br i1 %some, label %before, label %done
before:
  br label %loop
loop:
  %j = phi i32 [ %vstart, %before ], [ %next, %loop ]
  %s = phi i32 [ 7, %before ], [ %added, %loop ]
  %wide = sext i32 %j to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %wide
  %value = load i32, ptr addrspace(1) %from, align 4
  %added = add i32 %s, %value
  %next = add nsw i32 %j, 1
  %again = icmp slt i32 %next, %vend
  br i1 %again, label %loop, label %done
done:
  %all = phi i32 [ 7, %entry ], [ %added, %loop ]
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %v
  store i32 %all, ptr addrspace(1) %to, align 4
  ret void
}
