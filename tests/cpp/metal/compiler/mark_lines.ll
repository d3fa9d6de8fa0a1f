; RUN: mark-lines
; A mark stands before the first instruction of each line of the user's source in a block. The brace at which a function
; ends is no line of its own.
; CHECK-LABEL: define i32 @kernel(
; CHECK-NEXT: entry:
; CHECK-NEXT: call void @llvm.sideeffect(), !dbg ![[FIRST:[0-9]+]]
; CHECK-NEXT: %a = add i32 %x, 1, !dbg ![[FIRST]]
; CHECK-NEXT: %b = add i32 %a, 2, !dbg ![[FIRST]]
; CHECK-NEXT: call void @llvm.sideeffect(), !dbg ![[SECOND:[0-9]+]]
; CHECK-NEXT: %c = mul i32 %a, %b, !dbg ![[SECOND]]
; CHECK-NEXT: br label %next
; CHECK: next:
; CHECK-NEXT: call void @llvm.sideeffect(), !dbg ![[SECOND]]
; CHECK-NEXT: %d = mul i32 %c, 3, !dbg ![[SECOND]]
; CHECK-NEXT: %e = add i32 %d, 4{{$}}
; CHECK-NEXT: ret i32 %e
; CHECK-DAG: ![[FIRST]] = !DILocation(line: 5
; CHECK-DAG: ![[SECOND]] = !DILocation(line: 6
define i32 @kernel(i32 %x) !dbg !4 {
entry:
  %a = add i32 %x, 1, !dbg !6
  %b = add i32 %a, 2, !dbg !6
  %c = mul i32 %a, %b, !dbg !7
  br label %next, !dbg !8
next:
  %d = mul i32 %c, 3, !dbg !7
  %e = add i32 %d, 4
  ret i32 %e, !dbg !8
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
!7 = !DILocation(line: 6, column: 3, scope: !4)
!8 = !DILocation(line: 7, column: 1, scope: !4)
