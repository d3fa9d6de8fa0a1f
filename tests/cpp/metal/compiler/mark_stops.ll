; RUN: mark-stops
; A function says when it begins and returns, where each variable is, and before each marked line, which. The description
; names the variables that a line sees: the one of the inner block only there.
; CHECK: @debug.function = internal constant {{.*}}\22name\22:\22kernel\22,\22sites\22:[{\22file\22:\22source.metal\22,\22line\22:5,\22variables\22:[0]},{\22file\22:\22source.metal\22,\22line\22:7,\22variables\22:[0,1]}]
; CHECK-SAME: \22line\22:5,\22name\22:\22count\22
; CHECK-SAME: \22line\22:6,\22name\22:\22inner\22
; CHECK-LABEL: define void @kernel(
; CHECK: call void @__metal_debug_enter(ptr @debug.function)
; CHECK: [[COUNT:%.*]] = ptrtoint ptr %count to i64
; CHECK: call void @__metal_debug_variable(i32 0, i64 [[COUNT]])
; CHECK: call void @__metal_debug_line(i32 0)
; CHECK-NEXT: store i32 1, ptr %count
; CHECK: [[INNER:%.*]] = ptrtoint ptr %inner to i64
; CHECK: call void @__metal_debug_variable(i32 1, i64 [[INNER]])
; CHECK: call void @__metal_debug_line(i32 1)
; CHECK-NEXT: store i32 2, ptr %inner
; CHECK: call void @__metal_debug_leave()
; CHECK-NEXT: ret void
; CHECK-NOT: call void @llvm.sideeffect()
; A function without marked lines is not the user's.
; CHECK-LABEL: define void @library(
; CHECK-NEXT: ret void
define void @kernel() !dbg !4 {
  %count = alloca i32
  %inner = alloca i32
    #dbg_declare(ptr %count, !9, !DIExpression(), !6)
  call void @llvm.sideeffect(), !dbg !6
  store i32 1, ptr %count, !dbg !6
    #dbg_declare(ptr %inner, !10, !DIExpression(), !7)
  call void @llvm.sideeffect(), !dbg !7
  store i32 2, ptr %inner, !dbg !7
  ret void, !dbg !8
}
define void @library() !dbg !12 {
  ret void
}
declare void @llvm.sideeffect()
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "source.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 4, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{}
!6 = !DILocation(line: 5, column: 3, scope: !4)
!7 = !DILocation(line: 7, column: 5, scope: !11)
!8 = !DILocation(line: 9, column: 1, scope: !4)
!9 = !DILocalVariable(name: "count", scope: !4, file: !1, line: 5, type: !13)
!10 = !DILocalVariable(name: "inner", scope: !11, file: !1, line: 6, type: !13)
!11 = distinct !DILexicalBlock(scope: !4, file: !1, line: 6, column: 3)
!12 = distinct !DISubprogram(name: "library", file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!13 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
