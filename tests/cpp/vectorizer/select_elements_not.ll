; RUN: select-elements
; If all lanes access one element, they read one vector.
; CHECK-LABEL: define i32 @uniform
; CHECK: alloca
; CHECK-NOT: select
; CHECK: ret
define i32 @uniform(i32 %same) {
  %array = alloca [4 x i32]
  %at = getelementptr i32, ptr %array, i32 %same
  store i32 7, ptr %at
  %from = getelementptr i32, ptr %array, i32 2
  %value = load i32, ptr %from
  ret i32 %value
}
; Too many elements.
; CHECK-LABEL: define i32 @many
; CHECK-NOT: select
; CHECK: ret
define i32 @many(i32 %v) {
  %array = alloca [9 x i32]
  %at = getelementptr i32, ptr %array, i32 %v
  store i32 7, ptr %at
  %value = load i32, ptr %array
  ret i32 %value
}
; Accesses of other sizes, between elements, or by what the pass does not see.
; CHECK-LABEL: define i32 @sizes
; CHECK-NOT: select
; CHECK: ret
define i32 @sizes(i32 %v) {
  %array = alloca [4 x i32]
  %at = getelementptr i32, ptr %array, i32 %v
  store i32 7, ptr %at
  %value = load i8, ptr %array
  %wide = zext i8 %value to i32
  ret i32 %wide
}
; CHECK-LABEL: define i32 @between
; CHECK-NOT: select
; CHECK: ret
define i32 @between(i32 %v) {
  %array = alloca [4 x i32]
  %at = getelementptr i32, ptr %array, i32 %v
  store i32 7, ptr %at
  %from = getelementptr i8, ptr %array, i32 2
  %value = load i32, ptr %from
  ret i32 %value
}
declare void @see(ptr)
; CHECK-LABEL: define i32 @escapes
; CHECK-NOT: select
; CHECK: ret
define i32 @escapes(i32 %v) {
  %array = alloca [4 x i32]
  %at = getelementptr i32, ptr %array, i32 %v
  store i32 7, ptr %at
  call void @see(ptr %array)
  %value = load i32, ptr %array
  ret i32 %value
}
