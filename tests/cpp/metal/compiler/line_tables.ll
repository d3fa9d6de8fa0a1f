; RUN: line-tables
; A function that was made from a kernel's code gets an entry of its own with the source lines; otherwise debuggers
; would show none. A call without a line, which may be inlined, gets line 0.
; CHECK: define void @made(i32 %x) !dbg ![[MADE:[0-9]+]]
; CHECK-NEXT: add i32 %x, 1, !dbg ![[LINE:[0-9]+]]
; CHECK-NEXT: call void @use(i32 %sum), !dbg ![[NONE:[0-9]+]]
; Functions keep the entry that they have. Those without any line need none.
; CHECK: define void @kernel(i32 %x) !dbg ![[KERNEL:[0-9]+]]
; CHECK-LABEL: define void @no_lines(i32 %x) {
; CHECK-DAG: ![[KERNEL]] = distinct !DISubprogram(name: "kernel"
; CHECK-DAG: ![[MADE]] = distinct !DISubprogram(name: "made",{{.*}} line: 5
; CHECK-DAG: ![[LINE]] = !DILocation(line: 5, column: 3, scope: ![[PART:[0-9]+]])
; CHECK-DAG: ![[PART]] = !DILexicalBlockFile(scope: ![[MADE]]
; CHECK-DAG: ![[NONE]] = !DILocation(line: 0, scope: ![[MADE]])
define void @made(i32 %x) {
  %sum = add i32 %x, 1, !dbg !6
  call void @use(i32 %sum)
  ret void
}
define void @kernel(i32 %x) !dbg !4 {
  ret void, !dbg !6
}
define void @no_lines(i32 %x) {
  ret void
}
declare void @use(i32)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
