; RUN: private-memory 4
; If an address is passed to a function, that function steps through one copy, so other lanes' elements must not be in
; between.
; CHECK-LABEL: define i32 @handed_on
; CHECK: alloca [48 x i8], align 64, !simd.copies ![[BEHIND:.*]]
; CHECK: call void @fill(ptr
define i32 @handed_on(i32 %lane) {
  %array = alloca [2 x i32]
  call void @fill(ptr %array)
  %value = load i32, ptr %array
  ret i32 %value
}
declare void @fill(ptr)
; The same holds if the address is stored, or selected between variables.
; CHECK-LABEL: define ptr @stored
; CHECK: alloca [48 x i8], align 64, !simd.copies ![[BEHIND]]
define ptr @stored(i32 %lane) {
  %array = alloca [2 x i32]
  store i32 1, ptr %array
  %place = alloca ptr
  store ptr %array, ptr %place
  %read = load ptr, ptr %place
  ret ptr %read
}
; CHECK-LABEL: define i32 @chosen
; CHECK-COUNT-2: alloca [48 x i8], align 64, !simd.copies ![[BEHIND]]
define i32 @chosen(i32 %lane, i1 %which) {
  %a = alloca [2 x i32]
  %b = alloca [2 x i32]
  store i32 1, ptr %a
  store i32 2, ptr %b
  %one = select i1 %which, ptr %a, ptr %b
  %value = load i32, ptr %one
  ret i32 %value
}
; CHECK: ![[BEHIND]] = !{i64 8}
