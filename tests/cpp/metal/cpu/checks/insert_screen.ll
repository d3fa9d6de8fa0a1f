; RUN: insert-screen
; The screen for races keeps the last thread that wrote each byte in shadow memory. It does not say what is wrong: where
; the index is outside, another thread was there before, or two lanes collide, it leaves the kernel, which then runs with
; exact checks.
; CHECK-LABEL: define void @kernel(
; CHECK: [[GROUP:%.*]] = call ptr @check.group()
; CHECK: [[THREAD:%.*]] = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
; CHECK: icmp uge i64
; CHECK-NEXT: br i1 {{.*}}, label %[[OUTSIDE:.*]], label
; CHECK: [[OUTSIDE]]:
; CHECK-NEXT: call void @metal_cpu_check_suspect(ptr [[GROUP]])
; CHECK: [[BEFORE:%.*]] = load i64, ptr [[SHADOW:%.*]], align 8
; CHECK: icmp ne i64 [[BEFORE]], 0
; CHECK: store i64 [[NOW:%.*]], ptr [[SHADOW]]
; CHECK-NEXT: [[COLLIDES:%.*]] = call i1 @check.collides(ptr [[SHADOW]], i64 [[NOW]])
; CHECK-NEXT: br i1 [[COLLIDES]], label %[[TWICE:.*]], label
; CHECK: [[TWICE]]:
; CHECK-NEXT: call void @metal_cpu_check_suspect(ptr [[GROUP]])
; CHECK: store float 1.000000e+00, ptr addrspace(1) %place
; CHECK-NEXT: ret void
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
!13 = !{!"races"}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
