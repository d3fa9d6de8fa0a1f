; RUN: nvptx-small-integers
; Negations of 16 bits, also those of vectors, are computed with 32 bits. So are absolute values, minima and maxima, and
; products of which LLVM's back end makes negations, and those of 8 bits. Others stay. The results pass through an
; instruction that hides from LLVM's back end that 16 bits would do.
; CHECK-LABEL: define i32 @kernel(
; CHECK-NEXT: [[WIDE:%.*]] = sext i16 %a to i32
; CHECK-NEXT: [[MINUS:%.*]] = sub i32 0, [[WIDE]]
; CHECK-NEXT: [[HIDDEN:%.*]] = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 [[MINUS]])
; CHECK-NEXT: [[NARROW:%.*]] = trunc i32 [[HIDDEN]] to i16
; CHECK-NEXT: %result = sext i16 [[NARROW]] to i32
; CHECK-NEXT: sext <2 x i16> %b to <2 x i32>
; CHECK-NEXT: sub <2 x i32> zeroinitializer
; CHECK-NEXT: extractelement
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: insertelement
; CHECK-NEXT: extractelement
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: insertelement
; CHECK-NEXT: trunc <2 x i32> {{.*}} to <2 x i16>
; CHECK-NEXT: sext i16 %a to i32
; CHECK-NEXT: mul i32 {{.*}}, -2048
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: trunc
; CHECK-NEXT: sext i16 %a to i32
; CHECK-NEXT: call i32 @llvm.abs.i32(i32 {{.*}}, i1 false)
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: trunc
; CHECK-NEXT: [[U:%.*]] = zext i16 %a to i32
; CHECK-NEXT: call i32 @llvm.umin.i32(i32 [[U]], i32 3)
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: trunc i32 {{.*}} to i16
; CHECK-NEXT: sext i8 %c to i32
; CHECK-NEXT: call i32 @llvm.smax.i32(i32 {{.*}}, i32 -3)
; CHECK-NEXT: call i32 asm
; CHECK-NEXT: trunc i32 {{.*}} to i8
; CHECK-NEXT: %sevenfold = mul i16 %a, 7
; CHECK-NEXT: %difference = sub i16 1, %a
; CHECK-NEXT: %wide = sub i32 0, %result
; CHECK-NEXT: ret i32 %wide
define i32 @kernel(i16 %a, <2 x i16> %b, i8 %c) {
  %minus = sub i16 0, %a
  %result = sext i16 %minus to i32
  %both = sub <2 x i16> zeroinitializer, %b
  %product = mul i16 %a, -2048
  %absolute = call i16 @llvm.abs.i16(i16 %a, i1 false)
  %least = call i16 @llvm.umin.i16(i16 %a, i16 3)
  %most = call i8 @llvm.smax.i8(i8 %c, i8 -3)
  %sevenfold = mul i16 %a, 7
  %difference = sub i16 1, %a
  %wide = sub i32 0, %result
  ret i32 %wide
}
