; RUN: inline
; All functions that a kernel calls are inlined, even noinline ones, as later steps see one function only.
; CHECK-NOT: comdat
; CHECK: @table = internal global i32 7
; CHECK-NOT: define {{.*}} @callee
; CHECK-NOT: define {{.*}} @unused
; CHECK-LABEL: define void @kernel
; CHECK-NEXT: load i32, ptr @table
; CHECK-NEXT: store i32
; A function that calls itself stays a function, and becomes internal.
; CHECK: call void @recursive(
; CHECK-LABEL: define internal void @recursive(ptr %out)
$table = comdat any
@table = linkonce_odr global i32 7, comdat
define void @kernel(ptr %out) {
  call void @callee(ptr %out)
  call void @recursive(ptr %out)
  ret void
}
define linkonce_odr void @callee(ptr %out) noinline optnone {
  %entry = load i32, ptr @table
  store i32 %entry, ptr %out
  ret void
}
define void @recursive(ptr %out) {
  call void @recursive(ptr %out)
  ret void
}
define void @unused() {
  ret void
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
