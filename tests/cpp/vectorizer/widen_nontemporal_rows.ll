; RUN: widen 16 x86-64-v3
; Where each lane stores a whole cache line of its own, the line passes the caches if those of all
; lanes are aligned and the launch has many results. The halves of a line are stored one after the
; other.
; CHECK-LABEL: define internal void @lines.wide
; CHECK: %[[INSIDE:.*]] = and i64 %{{.*}}, 63
; CHECK: %[[EITHER:.*]] = or i64 %[[INSIDE]], %{{.*}}
; CHECK-NEXT: %[[PASSES:.*]] = icmp eq i64 %[[EITHER]], 0
; CHECK: br i1 %[[PASSES]], label %[[PAST:.*]], label %[[USUAL:.*]], !prof
; CHECK: [[PAST]]:
; CHECK-COUNT-16: store <8 x float> %{{.*}}, align 32, !nontemporal
; CHECK: [[USUAL]]:
; CHECK-COUNT-16: store <8 x float> %{{.*}}, align 4{{$}}
; CHECK: br i1 %[[PASSES]]
define void @lines(ptr %group, ptr addrspace(1) %out, i32 %x, float %va) {
  %place = shl i32 %x, 5
  %to0 = getelementptr float, ptr addrspace(1) %out, i32 %place
  %to1 = getelementptr i8, ptr addrspace(1) %to0, i64 4
  %to2 = getelementptr i8, ptr addrspace(1) %to0, i64 8
  %to3 = getelementptr i8, ptr addrspace(1) %to0, i64 12
  %to4 = getelementptr i8, ptr addrspace(1) %to0, i64 16
  %to5 = getelementptr i8, ptr addrspace(1) %to0, i64 20
  %to6 = getelementptr i8, ptr addrspace(1) %to0, i64 24
  %to7 = getelementptr i8, ptr addrspace(1) %to0, i64 28
  %to8 = getelementptr i8, ptr addrspace(1) %to0, i64 32
  %to9 = getelementptr i8, ptr addrspace(1) %to0, i64 36
  %to10 = getelementptr i8, ptr addrspace(1) %to0, i64 40
  %to11 = getelementptr i8, ptr addrspace(1) %to0, i64 44
  %to12 = getelementptr i8, ptr addrspace(1) %to0, i64 48
  %to13 = getelementptr i8, ptr addrspace(1) %to0, i64 52
  %to14 = getelementptr i8, ptr addrspace(1) %to0, i64 56
  %to15 = getelementptr i8, ptr addrspace(1) %to0, i64 60
  store float %va, ptr addrspace(1) %to0, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to1, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to2, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to3, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to4, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to5, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to6, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to7, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to8, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to9, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to10, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to11, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to12, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to13, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to14, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to15, align 4, !simd.nontemporal !0
  ret void
}

; Lanes that are apart by what is not a multiple of a line, or that store a part of one, do not.
; CHECK-LABEL: define internal void @beside_lines.wide
; CHECK-NOT: !nontemporal
; CHECK: ret void
define void @beside_lines(ptr %group, ptr addrspace(1) %out, i32 %x, float %va) {
  %place = mul i32 %x, 24
  %to0 = getelementptr float, ptr addrspace(1) %out, i32 %place
  %to1 = getelementptr i8, ptr addrspace(1) %to0, i64 4
  %to2 = getelementptr i8, ptr addrspace(1) %to0, i64 8
  %to3 = getelementptr i8, ptr addrspace(1) %to0, i64 12
  %to4 = getelementptr i8, ptr addrspace(1) %to0, i64 16
  %to5 = getelementptr i8, ptr addrspace(1) %to0, i64 20
  %to6 = getelementptr i8, ptr addrspace(1) %to0, i64 24
  %to7 = getelementptr i8, ptr addrspace(1) %to0, i64 28
  %to8 = getelementptr i8, ptr addrspace(1) %to0, i64 32
  %to9 = getelementptr i8, ptr addrspace(1) %to0, i64 36
  %to10 = getelementptr i8, ptr addrspace(1) %to0, i64 40
  %to11 = getelementptr i8, ptr addrspace(1) %to0, i64 44
  %to12 = getelementptr i8, ptr addrspace(1) %to0, i64 48
  %to13 = getelementptr i8, ptr addrspace(1) %to0, i64 52
  %to14 = getelementptr i8, ptr addrspace(1) %to0, i64 56
  %to15 = getelementptr i8, ptr addrspace(1) %to0, i64 60
  store float %va, ptr addrspace(1) %to0, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to1, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to2, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to3, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to4, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to5, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to6, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to7, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to8, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to9, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to10, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to11, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to12, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to13, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to14, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to15, align 4, !simd.nontemporal !0
  ret void
}

; CHECK-LABEL: define internal void @half_a_line.wide
; CHECK-NOT: !nontemporal
; CHECK: ret void
define void @half_a_line(ptr %group, ptr addrspace(1) %out, i32 %x, float %va) {
  %place = shl i32 %x, 5
  %to0 = getelementptr float, ptr addrspace(1) %out, i32 %place
  %to1 = getelementptr i8, ptr addrspace(1) %to0, i64 4
  %to2 = getelementptr i8, ptr addrspace(1) %to0, i64 8
  %to3 = getelementptr i8, ptr addrspace(1) %to0, i64 12
  %to4 = getelementptr i8, ptr addrspace(1) %to0, i64 16
  %to5 = getelementptr i8, ptr addrspace(1) %to0, i64 20
  %to6 = getelementptr i8, ptr addrspace(1) %to0, i64 24
  %to7 = getelementptr i8, ptr addrspace(1) %to0, i64 28
  store float %va, ptr addrspace(1) %to0, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to1, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to2, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to3, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to4, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to5, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to6, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to7, align 4, !simd.nontemporal !0
  ret void
}

; If the distance is only known at run time, it is tested.
; CHECK-LABEL: define internal void @strided.wide
; CHECK: %[[BOTH:.*]] = or i64
; CHECK-NEXT: %[[INSIDE:.*]] = and i64 %[[BOTH]], 63
; CHECK: or i64 %[[INSIDE]], %{{.*}}
; CHECK-COUNT-16: store <8 x float> %{{.*}}, align 32, !nontemporal
define void @strided(ptr %group, ptr addrspace(1) %out, i32 %x, i64 %stride, float %va) {
  %wide = zext i32 %x to i64
  %place = mul nsw i64 %wide, %stride
  %to0 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 %place
  %to1 = getelementptr i8, ptr addrspace(1) %to0, i64 4
  %to2 = getelementptr i8, ptr addrspace(1) %to0, i64 8
  %to3 = getelementptr i8, ptr addrspace(1) %to0, i64 12
  %to4 = getelementptr i8, ptr addrspace(1) %to0, i64 16
  %to5 = getelementptr i8, ptr addrspace(1) %to0, i64 20
  %to6 = getelementptr i8, ptr addrspace(1) %to0, i64 24
  %to7 = getelementptr i8, ptr addrspace(1) %to0, i64 28
  %to8 = getelementptr i8, ptr addrspace(1) %to0, i64 32
  %to9 = getelementptr i8, ptr addrspace(1) %to0, i64 36
  %to10 = getelementptr i8, ptr addrspace(1) %to0, i64 40
  %to11 = getelementptr i8, ptr addrspace(1) %to0, i64 44
  %to12 = getelementptr i8, ptr addrspace(1) %to0, i64 48
  %to13 = getelementptr i8, ptr addrspace(1) %to0, i64 52
  %to14 = getelementptr i8, ptr addrspace(1) %to0, i64 56
  %to15 = getelementptr i8, ptr addrspace(1) %to0, i64 60
  store float %va, ptr addrspace(1) %to0, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to1, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to2, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to3, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to4, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to5, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to6, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to7, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to8, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to9, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to10, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to11, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to12, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to13, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to14, align 4, !simd.nontemporal !0
  store float %va, ptr addrspace(1) %to15, align 4, !simd.nontemporal !0
  ret void
}

!0 = !{}
