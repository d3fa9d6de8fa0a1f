; RUN: remove-hints
; What only tells LLVM something goes, as it may not hold for the lanes that are switched off. Calls with effects stay,
; and so do hints whose value is used.
; CHECK-LABEL: define i32 @kernel(
; CHECK-NEXT: %memory = alloca i32
; CHECK-NEXT: %less = icmp ult i32 %i, 8
; CHECK-NEXT: store i32 %i, ptr %memory
; CHECK-NEXT: call void @effect()
; CHECK-NEXT: %known = call i32 @llvm.expect.i32(i32 %i, i32 1)
; CHECK-NEXT: ret i32 %known
define i32 @kernel(i32 %i) {
  %memory = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %memory)
  %less = icmp ult i32 %i, 8
  call void @llvm.assume(i1 %less)
  call void @llvm.sideeffect()
  store i32 %i, ptr %memory
  call void @effect()
  call void @llvm.lifetime.end.p0(i64 4, ptr %memory)
  %known = call i32 @llvm.expect.i32(i32 %i, i32 1)
  ret i32 %known
}
declare void @effect()
