; RUN: lanes-in-turn 4
; The rows of a sparse matrix. Lane after lane runs the loop, as scalar code: what differs between lanes is taken from the lane
; whose turn it is. An empty row has no turn. The loop itself is for gangs in which a lane does not run it, and for short rows.
; CHECK-LABEL: define void @product
; CHECK: %some = icmp slt i32 %vstart, %vend
; CHECK: %[[COUNT:.*]] = select i1 %some, i64 %{{.*}}, i64 0
; CHECK: %[[ALL:.*]] = call i1 @simd.all_run()
; CHECK: %[[SUM:.*]] = call i64 @__metal_simd_sum_i64(i64 %[[COUNT]])
; CHECK: %[[ENOUGH:.*]] = icmp uge i64 %[[SUM]], 28
; CHECK: br i1 %{{.*}}, label %lanes, label %[[ALONE:.*]]
; CHECK: lanes:
; CHECK: %number = phi i32
; CHECK: %[[KEPT:.*]] = phi float [ 0.000000e+00, %entry ], [ %[[RESULT:.*]], %turn.end ]
; CHECK-DAG: %[[START:.*]] = call i32 @__metal_simd_shuffle_i32(i32 %vstart, i32 %number)
; CHECK-DAG: %[[END:.*]] = call i32 @__metal_simd_shuffle_i32(i32 %vend, i32 %number)
; CHECK-DAG: %[[OF_LANE:.*]] = call i64 @__metal_simd_shuffle_i64(i64 %[[COUNT]], i32 %number)
; CHECK: %[[RUNS:.*]] = icmp ne i64 %[[OF_LANE]], 0
; CHECK: br i1 %[[RUNS]], label %turn, label %turn.end
; CHECK: turn:
; CHECK: phi i32 [ %[[START]], %lanes ], [ %[[NEXT:.*]], %turn ]
; CHECK: %[[S:.*]] = phi float [ 0.000000e+00, %lanes ], [ %[[ADDED:.*]], %turn ]
; CHECK: %[[ADDED]] = call float @llvm.fmuladd.f32(float %{{.*}}, float %{{.*}}, float %[[S]])
; CHECK: icmp slt i32 %[[NEXT]], %[[END]]
; CHECK: br i1 %{{.*}}, label %turn, label %turn.end
; CHECK: turn.end:
; CHECK: %[[OF_TURN:.*]] = phi float [ 0.000000e+00, %lanes ], [ %[[ADDED]], %turn ]
; CHECK: %[[OWN:.*]] = icmp eq i32 %lane, %number
; CHECK: %[[RESULT]] = select i1 %[[OWN]], float %[[OF_TURN]], float %[[KEPT]]
; CHECK: lanes.end:
; CHECK: select i1 %some, float %[[RESULT]], float 0.000000e+00
; CHECK: [[ALONE]]:
; CHECK: br i1 %some, label %before, label %done
define void @product(ptr addrspace(1) %in, ptr addrspace(1) %columns, ptr addrspace(1) %others, ptr addrspace(1) %out, i32 %vstart, i32 %vend, i64 %v, i32 %lane) {
entry:
  %some = icmp slt i32 %vstart, %vend
  br i1 %some, label %before, label %done
before:
  br label %loop
loop:
  %j = phi i32 [ %vstart, %before ], [ %next, %loop ]
  %s = phi float [ 0.0, %before ], [ %added, %loop ]
  %wide = sext i32 %j to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %from, align 4
  %column.at = getelementptr i32, ptr addrspace(1) %columns, i64 %wide
  %column = load i32, ptr addrspace(1) %column.at, align 4
  %wide.column = sext i32 %column to i64
  %x.at = getelementptr float, ptr addrspace(1) %others, i64 %wide.column
  %factor = load float, ptr addrspace(1) %x.at, align 4
  %added = call float @llvm.fmuladd.f32(float %value, float %factor, float %s)
  %next = add nsw i32 %j, 1
  %more = icmp slt i32 %next, %vend
  br i1 %more, label %loop, label %done
done:
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}

; If the branch around the loop guards more, all lanes must run the loop.
; CHECK-LABEL: define void @guarded
; CHECK: before:
; CHECK: call i1 @simd.all_run()
; CHECK-NOT: select i1 %some
; CHECK: ret void
define void @guarded(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %vstart, i32 %vend, i64 %v, i32 %lane) {
entry:
  %some = icmp slt i32 %vstart, %vend
  br i1 %some, label %before, label %done
before:
  br label %loop
loop:
  %j = phi i32 [ %vstart, %before ], [ %next, %loop ]
  %s = phi float [ 0.0, %before ], [ %added, %loop ]
  %wide = sext i32 %j to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %from, align 4
  %added = fadd float %value, %s
  %next = add nsw i32 %j, 1
  %more = icmp slt i32 %next, %vend
  br i1 %more, label %loop, label %store
store:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %v
  store float %added, ptr addrspace(1) %to, align 4
  br label %done
done:
  ret void
}

declare float @llvm.fmuladd.f32(float, float, float)
