; RUN: remove-unused
; Unused functions and variables are removed, and then those that only they used. Otherwise each kernel's bitcode would
; have the whole library.
; CHECK-NOT: @table
; CHECK-NOT: @unused
; CHECK-NOT: @only_from_there
; CHECK-NOT: @only_read_there
; CHECK: @read = internal constant i32 2
; CHECK: @llvm.global_ctors
; CHECK-LABEL: define void @kernel
; CHECK-LABEL: define internal void @called
@table = internal constant ptr @only_from_there
@only_read_there = internal constant i32 3
@read = internal constant i32 2
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @called, ptr null }]
define void @kernel() {
  %value = load i32, ptr @read
  call void @called()
  ret void
}
define internal void @called() {
  ret void
}
define internal void @unused() {
  %value = load i32, ptr @only_read_there
  ret void
}
define internal void @only_from_there() {
  call void @declared()
  ret void
}
declare void @declared()
