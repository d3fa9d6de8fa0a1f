; RUN: read-annotations
; Metal's attributes are known from the AST. In the IR they would keep unused variables and calls.
; CHECK-NOT: @llvm.global.annotations
; CHECK-LABEL: define void @kernel
; CHECK-NEXT: %own = alloca i32
; CHECK-NEXT: %value = call i32 @llvm.annotation.i32.p0(
; CHECK-NEXT: store volatile i32 %value, ptr %own
; CHECK-NEXT: ret void
@text = private constant [2 x i8] c"x\00"
@variable = internal global i32 0
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @variable, ptr @text, ptr null, i32 1, ptr null }], section "llvm.metadata"
define void @kernel() {
  %own = alloca i32
  call void @llvm.var.annotation.p0.p0(ptr %own, ptr @text, ptr null, i32 1, ptr null)
  %value = call i32 @llvm.annotation.i32.p0(i32 7, ptr @text, ptr null, i32 1)
  store volatile i32 %value, ptr %own
  ret void
}
declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
declare i32 @llvm.annotation.i32.p0(i32, ptr, ptr, i32)
