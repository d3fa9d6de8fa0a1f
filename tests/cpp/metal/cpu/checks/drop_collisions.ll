; RUN: drop-collisions
; One thread runs at a time in scalar code, so no other lane can have written in between.
; CHECK-LABEL: define void @kernel.body(
; CHECK-NEXT: br i1 false, label %collides, label %next
; CHECK-NOT: @check.collides
define void @kernel.body(ptr %place) {
  %differs = call i1 @check.collides(ptr %place, i32 7)
  br i1 %differs, label %collides, label %next
collides:
  store i32 0, ptr %place
  br label %next
next:
  ret void
}
declare i1 @check.collides(ptr, i32)
