; RUN: widen 4
; Functions that call themselves have no vector form.
; CHECK: no vector code: a call of again, which calls itself
; CHECK-NOT: .wide
declare i32 @again(i32)
define void @kernel(ptr addrspace(1) %out, i32 %vary) {
  %value = call i32 @again(i32 %vary)
  store i32 %value, ptr addrspace(1) %out
  ret void
}
