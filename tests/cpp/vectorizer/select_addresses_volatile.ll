; RUN: select-addresses
; Volatile loads stay, and so do selects by a mask, which no address can replace.
; CHECK-LABEL: define <16 x float> @volatile
; CHECK-NEXT: %read = load volatile
; CHECK-NEXT: %value = select i1 %in, <16 x float> %read
define <16 x float> @volatile(ptr addrspace(1) %row, i1 %in) {
  %read = load volatile <16 x float>, ptr addrspace(1) %row, align 4
  %value = select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
  ret <16 x float> %value
}
; CHECK-LABEL: define <16 x float> @lane_by_lane
; CHECK-NEXT: %read = load
; CHECK-NEXT: %value = select <16 x i1> %in, <16 x float> %read
define <16 x float> @lane_by_lane(ptr addrspace(1) %row, <16 x i1> %in) {
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  %value = select <16 x i1> %in, <16 x float> %read, <16 x float> zeroinitializer
  ret <16 x float> %value
}
; Another block, which may write, may run in between.
; CHECK-LABEL: define <16 x float> @other_block
; CHECK: next:
; CHECK-NEXT: %value = select i1 %in, <16 x float> %read
define <16 x float> @other_block(ptr addrspace(1) %row, i1 %in) {
entry:
  %read = load <16 x float>, ptr addrspace(1) %row, align 4
  br label %next
next:
  %value = select i1 %in, <16 x float> %read, <16 x float> zeroinitializer
  ret <16 x float> %value
}
