; RUN: tidy
; Unused code is removed.
; CHECK-LABEL: define i32 @dead
; CHECK-NEXT: ret i32 %x
define i32 @dead(i32 %x) {
  %unused = mul i32 %x, 3
  %same = add i32 %x, 0
  ret i32 %same
}
; Each block computes the values that it needs: another block may not have run for the same lanes.
; CHECK-LABEL: define void @both
; CHECK: %first = mul i32 %x, 3
; CHECK: %second = mul i32 %x, 3
; CHECK-NEXT: store i32 %second
define void @both(ptr addrspace(1) %out, i32 %x, i1 %any) {
entry:
  %first = mul i32 %x, 3
  store i32 %first, ptr addrspace(1) %out
  br i1 %any, label %then, label %done
then:
  %second = mul i32 %x, 3
  store i32 %second, ptr addrspace(1) %out
  br label %done
done:
  ret void
}
