; RUN: nontemporal-stores 8
; A gang of eight threads has a row of a tile. Its floats fill half a line, and pairs of floats a line.
; CHECK: store float %value, ptr addrspace(1) %to, align 4{{$}}
; CHECK: store <2 x float> %pair, ptr addrspace(1) %there, align 8, !simd.nontemporal
define void @rows(ptr addrspace(1) %out, ptr addrspace(1) %pairs, float %value, <2 x float> %pair, i64 %i) {
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to, align 4
  %there = getelementptr <2 x float>, ptr addrspace(1) %pairs, i64 %i
  store <2 x float> %pair, ptr addrspace(1) %there, align 8
  ret void
}

; So do the parts of a pair.
; CHECK-LABEL: define void @parts
; CHECK: store float %a, ptr addrspace(1) %to, align 8, !simd.nontemporal
; CHECK: store float %b, ptr addrspace(1) %next, align 4, !simd.nontemporal
; CHECK: store float %c, ptr addrspace(1) %far, align 4{{$}}
define void @parts(ptr addrspace(1) %out, float %a, float %b, float %c, i64 %i) {
  %to = getelementptr <2 x float>, ptr addrspace(1) %out, i64 %i
  store float %a, ptr addrspace(1) %to, align 8
  %next = getelementptr i8, ptr addrspace(1) %to, i64 4
  store float %b, ptr addrspace(1) %next, align 4
  %far = getelementptr i8, ptr addrspace(1) %to, i64 8192
  store float %c, ptr addrspace(1) %far, align 4
  ret void
}

!has_barriers = !{}
