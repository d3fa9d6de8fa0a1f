; RUN: shapes 4
; Flags behind a divergent branch say nothing about lane 0, which may be inactive there. Flags count only in code that
; is not guarded.
; CHECK: %certain: lane 0 + 0 1 2 3
; CHECK-NEXT: %wide: lane 0 + 0 1 2 3{{$}}
; CHECK: entry: divergent
; CHECK: %guarded: lane 0 + 0 1 2 3
; CHECK-NEXT: %unknown: lane 0 + 0 1 2 3, if no lane wraps around
; CHECK-NEXT: %signed: lane 0 + 0 1 2 3, if no lane wraps around
; CHECK: %again: lane 0 + 0 1 2 3
; CHECK-NEXT: %after: lane 0 + 0 1 2 3{{$}}
define void @kernel(i32 %x, i32 %same, i1 %vary) {
entry:
  %certain = add nuw i32 %x, %same
  %wide = zext i32 %certain to i64
  br i1 %vary, label %then, label %join
then:
  %guarded = add nuw nsw i32 %x, %same
  %unknown = zext i32 %guarded to i64
  %signed = sext i32 %guarded to i64
  br label %join
join:
  %again = add nsw i32 %x, %same
  %after = sext i32 %again to i64
  ret void
}
; From the start of a buffer, lanes after the one whose index wraps around have no valid address. From other addresses
; they may have.
; CHECK: %index: lane 0 + 0 1 2 3, if no lane wraps around
; CHECK: %at: lane 0 + 0 4 8 12{{$}}
; CHECK: %moved: uniform
; CHECK: %from.there: lane 0 + 0 4 8 12, if no lane wraps around
; CHECK: %down: lane 0 + 0 -4 -8 -12, if no lane wraps around
define void @buffer(ptr %launch, i32 %x, i32 %same) {
  %buffer = load ptr, ptr %launch, !invariant.load !0
  %start = addrspacecast ptr %buffer to ptr addrspace(1)
  %sum = add i32 %x, %same
  %index = sext i32 %sum to i64
  %at = getelementptr float, ptr addrspace(1) %start, i64 %index
  %moved = getelementptr float, ptr addrspace(1) %start, i32 %same
  %from.there = getelementptr float, ptr addrspace(1) %moved, i64 %index
  %difference = sub i32 %same, %x
  %falling = sext i32 %difference to i64
  %down = getelementptr float, ptr addrspace(1) %start, i64 %falling
  ret void
}
!0 = !{}
