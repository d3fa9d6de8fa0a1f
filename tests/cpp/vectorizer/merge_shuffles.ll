; RUN: merge-shuffles
; A vector that gets longer in two steps is made in one, as LLVM 19 takes the result for undefined.
; CHECK-LABEL: define <8 x i64> @longer
; CHECK: shufflevector <2 x i64> %v, <2 x i64> poison, <8 x i32> <i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 1>
; CHECK-NEXT: ret
define <8 x i64> @longer(<2 x i64> %v) {
  %a = shufflevector <2 x i64> %v, <2 x i64> poison, <4 x i32> <i32 poison, i32 poison, i32 0, i32 1>
  %b = shufflevector <4 x i64> %a, <4 x i64> poison, <8 x i32> <i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 5, i32 3>
  ret <8 x i64> %b
}
; The first one may stand behind in the text.
; CHECK-LABEL: define <8 x i64> @blocks
; CHECK: shufflevector <2 x i64> %v, <2 x i64> poison, <8 x i32> <i32 0, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
define <8 x i64> @blocks(<2 x i64> %v) {
entry:
  br label %first
second:
  %b = shufflevector <4 x i64> %a, <4 x i64> poison, <8 x i32> <i32 2, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  ret <8 x i64> %b
first:
  %a = shufflevector <2 x i64> %v, <2 x i64> poison, <4 x i32> <i32 poison, i32 poison, i32 0, i32 1>
  br label %second
}
; Shuffles of two vectors stay, and those that define all elements.
; CHECK-LABEL: define <4 x i64> @kept
; CHECK-NEXT: %a = shufflevector
; CHECK-NEXT: %b = shufflevector <4 x i64> %a, <4 x i64> poison, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
; CHECK-NEXT: ret
define <4 x i64> @kept(<2 x i64> %v, <2 x i64> %w) {
  %a = shufflevector <2 x i64> %v, <2 x i64> %w, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %b = shufflevector <4 x i64> %a, <4 x i64> poison, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  ret <4 x i64> %b
}
