; RUN: line-tables
; Without line tables nothing is added, so the code and its key in the cache stay the same.
; CHECK-LABEL: define void @made
; CHECK-NOT: !dbg
; CHECK-NOT: DICompileUnit
define void @made(i32 %x) {
  call void @use(i32 %x)
  ret void
}
declare void @use(i32)
