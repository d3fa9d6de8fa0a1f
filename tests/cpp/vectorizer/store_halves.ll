; RUN: store-halves
; Halves of non-temporal stores are stored as integers; they are cast where they are made.
; CHECK-LABEL: define void @kernel
; CHECK: %halves = fptrunc
; CHECK-NEXT: %[[NUMBERS:.*]] = bitcast <32 x half> %halves to <32 x i16>
; CHECK: past:
; CHECK-NEXT: store <32 x i16> %[[NUMBERS]], ptr %to, align 64, !nontemporal
; CHECK: usual:
; CHECK-NEXT: store <32 x half> %halves, ptr %to, align 2{{$}}
define void @kernel(ptr %to, <32 x float> %values, i1 %many) {
  %halves = fptrunc <32 x float> %values to <32 x half>
  br i1 %many, label %past, label %usual
past:
  store <32 x half> %halves, ptr %to, align 64, !nontemporal !0
  ret void
usual:
  store <32 x half> %halves, ptr %to, align 2
  ret void
}

!0 = !{i32 1}
