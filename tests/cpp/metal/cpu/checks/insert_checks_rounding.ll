; RUN: insert-checks
; The check of numbers beside float64. The sum of the loop is computed twice; the exact one is compared with what is
; stored, and kept with it.
; CHECK-LABEL: define void @kernel(
; CHECK: loop:
; CHECK-DAG: [[EXACT:%.*]] = phi double [ 0.000000e+00, {{.*}} ], [ [[NEXT:%.*]], {{.*}} ]
; CHECK-DAG: %sum = phi half [ 0xH0000, {{.*}} ], [ %next, {{.*}} ]
; CHECK: %x = load half
; CHECK: [[REAL:%.*]] = fpext half %x to double
; CHECK: [[LOADED:%.*]] = call double @metal_cpu_check_exact_loaded(ptr [[GROUP:%.*]], i64 {{.*}}, double [[REAL]])
; CHECK: %next = fadd half %sum, %x
; CHECK: [[NEXT]] = fadd double [[EXACT]], [[LOADED]]
; CHECK: end:
; CHECK: [[STORED:%.*]] = fpext half %next to double
; CHECK: call void @metal_cpu_check_exact_stored(ptr [[GROUP]], ptr {{.*}}, ptr {{.*}}, i64 {{.*}}, i64 {{.*}}, double [[STORED]], double [[NEXT]], i32 1)
; CHECK: store half %next
define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i) !dbg !4 {
entry:
  br label %loop, !dbg !6

loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %sum = phi half [ 0xH0000, %entry ], [ %next, %loop ]
  %from = getelementptr half, ptr addrspace(1) %in, i32 %k, !dbg !6
  %x = load half, ptr addrspace(1) %from, !dbg !6
  %next = fadd half %sum, %x, !dbg !6
  %k1 = add i32 %k, 1, !dbg !6
  %more = icmp ult i32 %k1, 9, !dbg !6
  br i1 %more, label %loop, label %end, !dbg !6

end:
  %place = getelementptr half, ptr addrspace(1) %out, i32 %i, !dbg !6
  store half %next, ptr addrspace(1) %place, !dbg !6
  ret void, !dbg !6
}
!kernel = !{!10, !11, !14, !12}
!10 = !{!"kernel", !"kernel"}
!11 = !{!"buffer", i32 0, i32 0}
!12 = !{!"thread_position_in_grid", i32 2, i32 4, i32 4}
!14 = !{!"buffer", i32 1, i32 1}
!checks = !{!13}
!13 = !{!"numbers=float64"}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
