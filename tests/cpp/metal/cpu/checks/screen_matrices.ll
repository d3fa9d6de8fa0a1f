; RUN: insert-screen
; The lanes test the elements of a matrix in the order of memory: lane 9 tests that in row 1, column 1, in the name of
; lane 2, to which it belongs. Before that, all lanes must access the same matrix.
; CHECK-LABEL: define void @kernel(
; CHECK: call i32 @__metal_simd_ballot(i1
; CHECK: icmp eq i32 {{.*}}, -1
; CHECK: call void @metal_cpu_check_suspect(
; CHECK: [[ROW:%[0-9]+]] = lshr i32 %lane, 3
; CHECK: [[COLUMN:%[0-9]+]] = and i32 %lane, 7
; CHECK: [[OWNER:%[0-9]+]] = add i32 [[SIMDGROUP:%.*]],
; CHECK: store i64 {{.*}}, ptr [[STAMP:%[0-9]+]], align 8
; CHECK-NEXT: call i1 @check.collides(ptr [[STAMP]]
; CHECK: add i32 [[ROW2:%[0-9]+]], 4
; CHECK: store i64 {{.*}}, ptr [[SECOND:%[0-9]+]], align 8
; CHECK-NEXT: call i1 @check.collides(ptr [[SECOND]]
; CHECK: store float {{.*}}, ptr addrspace(1)
; CHECK-NEXT: ret void
define void @kernel(ptr addrspace(1) %out, i32 %lane) !dbg !4 {
  %sum = call float @__metal_simd_sum_f32(float 1.0)
  call void @__metal_simdgroup_store_device_32(ptr addrspace(1) %out, i64 8, i64 1, i32 %lane, i64 5), !dbg !6
  ret void, !dbg !6
}
declare float @__metal_simd_sum_f32(float)
define internal void @__metal_simdgroup_store_device_32(ptr addrspace(1) %p, i64 %row, i64 %column, i32 %lane, i64 %pair) noinline {
  %at = shl i32 %lane, 1
  %to = getelementptr i32, ptr addrspace(1) %p, i32 %at
  %x = trunc i64 %pair to i32
  store i32 %x, ptr addrspace(1) %to
  ret void
}
!kernel = !{!10, !11, !12}
!10 = !{!"kernel", !"kernel"}
!11 = !{!"buffer", i32 0, i32 1}
!12 = !{!"thread_index_in_simdgroup", i32 1, i32 4, i32 4}
!checks = !{!14}
!14 = !{!"races"}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
