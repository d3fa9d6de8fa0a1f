; RUN: insert-checks
; The check of bounds. The place of a write is compared with the buffer's begin and size. What lies outside is reported,
; with its line and the argument's name, and goes to memory that nobody reads.
; CHECK-DAG: [[NAME:@.*]] = internal constant [10 x i8] c"argument1\00"
; CHECK-DAG: [[OBJECT:@.*]] = internal constant { ptr, i32, i32 } { ptr [[NAME]], i32 0, i32 1 }
; CHECK-DAG: [[FILE:@.*]] = internal constant [13 x i8] c"source.metal\00"
; CHECK-DAG: [[SITE:@.*]] = internal constant { ptr, ptr, i32, i32 } { ptr [[FILE]], ptr {{.*}}, i32 5, i32 3 }
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: [[GROUP:%.*]] = call ptr @check.group()
; CHECK: [[BEGIN:%.*]] = ptrtoint ptr {{.*}} to i64
; CHECK: [[BYTES:%.*]] = load i64
; CHECK: %place = getelementptr float
; CHECK: [[OFFSET:%.*]] = sub i64 {{.*}}, [[BEGIN]]
; CHECK: br i1 {{.*}}, label %[[OUTSIDE:.*]], label %[[ACCESS:.*]], !prof
; CHECK: [[OUTSIDE]]:
; CHECK-NEXT: call i32 @metal_cpu_check_outside(ptr [[GROUP]], ptr [[SITE]], ptr [[OBJECT]], i64 [[OFFSET]], i64 [[BYTES]], i64 4, i32 1, i1 false)
; CHECK: [[NOWHERE:%.*]] = addrspacecast ptr
; CHECK: [[ACCESS]]:
; CHECK-NEXT: [[PLACE:%.*]] = phi ptr addrspace(1) [ %place, {{.*}} ], [ [[NOWHERE]], %[[OUTSIDE]] ]
; CHECK: store float 1.000000e+00, ptr addrspace(1) [[PLACE]]
define void @kernel(ptr addrspace(1) %out, i32 %i) !dbg !4 {
  %place = getelementptr float, ptr addrspace(1) %out, i32 %i, !dbg !6
  store float 1.0, ptr addrspace(1) %place, !dbg !6
  ret void, !dbg !6
}
!kernel = !{!10, !11, !12}
!10 = !{!"kernel", !"kernel"}
!11 = !{!"buffer", i32 0, i32 1}
!12 = !{!"thread_position_in_grid", i32 1, i32 4, i32 4}
!checks = !{!13}
!13 = !{!"bounds"}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
