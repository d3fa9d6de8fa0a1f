; RUN: select-addresses
; The constant in memory has the alignment of the load whose place it takes. The load would otherwise be undefined.
; CHECK: private constant <4 x float> zeroinitializer, align 256
; CHECK-LABEL: define <4 x float> @aligned
; CHECK: load <4 x float>, ptr %{{.*}}, align 4
; CHECK: load <4 x float>, ptr %{{.*}}, align 256
define <4 x float> @aligned(ptr %row, i1 %in) {
  %first = load <4 x float>, ptr %row, align 4
  %one = select i1 %in, <4 x float> %first, <4 x float> zeroinitializer
  %second = load <4 x float>, ptr %row, align 256
  %other = select i1 %in, <4 x float> %second, <4 x float> zeroinitializer
  %sum = fadd <4 x float> %one, %other
  ret <4 x float> %sum
}
