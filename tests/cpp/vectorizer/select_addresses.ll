; RUN: select-addresses
; If one bit selects between a loaded vector and a constant, the address is selected instead.
; CHECK: @[[ZEROS:.*]] = private constant <16 x float> zeroinitializer, align 64
; CHECK-LABEL: define <16 x float> @inside
; CHECK: %[[AT:.*]] = select i1 %in, ptr addrspace(1) %row, ptr addrspace(1) addrspacecast (ptr @[[ZEROS]] to ptr addrspace(1))
; CHECK-NEXT: %value = load <16 x float>, ptr addrspace(1) %[[AT]], align 4
; CHECK-NEXT: ret <16 x float> %value
define <16 x float> @inside(ptr addrspace(1) %row, i1 %in) {
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  %value = select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
  ret <16 x float> %value
}
; CHECK-LABEL: define <16 x float> @outside
; CHECK: select i1 %out, ptr addrspace(1) addrspacecast (ptr @[[ZEROS]] to ptr addrspace(1)), ptr addrspace(1) %row
define <16 x float> @outside(ptr addrspace(1) %row, i1 %out) {
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  %value = select i1 %out, <16 x float> zeroinitializer, <16 x float> %read
  ret <16 x float> %value
}
; The loaded memory must not change before the select.
; CHECK-LABEL: define <16 x float> @changed
; CHECK: select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
define <16 x float> @changed(ptr addrspace(1) %row, i1 %in) {
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  store float 1.0, ptr addrspace(1) %row
  %value = select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
  ret <16 x float> %value
}
; It is not loaded twice.
; CHECK-LABEL: define <16 x float> @needed
; CHECK: select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
define <16 x float> @needed(ptr addrspace(1) %row, i1 %in) {
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  %value = select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
  %sum = fadd <16 x float> %read, %value
  ret <16 x float> %sum
}
; A scalar is selected as it is.
; CHECK-LABEL: define float @scalar
; CHECK: select i1 %in, float %read, float 0.000000e+00
define float @scalar(ptr addrspace(1) %row, i1 %in) {
  %read = load float, ptr addrspace(1) %row, align 4
  %value = select i1 %in, float %read, float 0.0
  ret float %value
}
