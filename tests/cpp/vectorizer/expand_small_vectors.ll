; RUN: expand-small-vectors
; Operations on vectors of half become operations on vectors of float.
declare <16 x half> @llvm.minnum.v16f16(<16 x half>, <16 x half>)
; CHECK-LABEL: define <16 x i32> @halves
; CHECK: %[[X:.*]] = fpext <16 x half> %x to <16 x float>
; CHECK: %[[Y:.*]] = fpext <16 x half> %y to <16 x float>
; CHECK: %[[LEAST:.*]] = call <16 x float> @llvm.minnum.v16f32(<16 x float> %[[X]], <16 x float> %[[Y]])
; CHECK: %[[ROUNDED:.*]] = fptrunc <16 x float> %[[LEAST]] to <16 x half>
; CHECK: %[[AGAIN:.*]] = fpext <16 x half> %[[ROUNDED]] to <16 x float>
; CHECK: fptosi <16 x float> %[[AGAIN]] to <16 x i32>
define <16 x i32> @halves(<16 x half> %x, <16 x half> %y) {
  %least = call <16 x half> @llvm.minnum.v16f16(<16 x half> %x, <16 x half> %y)
  %number = fptosi <16 x half> %least to <16 x i32>
  ret <16 x i32> %number
}
; Scalars are left to LLVM.
; CHECK-LABEL: define half @one
; CHECK-NEXT: fadd half
define half @one(half %x) {
  %sum = fadd half %x, %x
  ret half %sum
}
; Vectors of bfloat are selected, passed to other blocks and stored as integers.
; CHECK-LABEL: define void @moves
; CHECK: %[[NUMBERS:.*]] = bitcast <16 x bfloat> %x to <16 x i16>
; CHECK: %[[CHOSEN:.*]] = select <16 x i1> %which, <16 x i16> %[[NUMBERS]], <16 x i16> zeroinitializer
; CHECK: next:
; CHECK-NEXT: %[[CARRIED:.*]] = phi <16 x i16> [ %[[CHOSEN]], %other ], [ zeroinitializer, %entry ]
; CHECK: store <16 x i16> %[[CARRIED]], ptr %to
define void @moves(ptr %to, <16 x bfloat> %x, <16 x i1> %which, i1 %branch) {
entry:
  br i1 %branch, label %other, label %next
other:
  %chosen = select <16 x i1> %which, <16 x bfloat> %x, <16 x bfloat> zeroinitializer
  br label %next
next:
  %carried = phi <16 x bfloat> [ %chosen, %other ], [ zeroinitializer, %entry ]
  store <16 x bfloat> %carried, ptr %to, align 2
  ret void
}
