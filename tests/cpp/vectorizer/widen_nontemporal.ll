; RUN: widen 16
; Stores of whole cache lines are non-temporal if they are aligned and the launch has many results.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[INSIDE:.*]] = and i64 %{{.*}}, 63
; CHECK: %[[EITHER:.*]] = or i64 %[[INSIDE]], %{{.*}}
; CHECK-NEXT: %[[PASSES:.*]] = icmp eq i64 %[[EITHER]], 0
; CHECK-NEXT: br i1 %[[PASSES]], label %[[PAST:.*]], label %[[USUAL:.*]], !prof
; CHECK: [[PAST]]:
; CHECK-NEXT: store <16 x float> %{{.*}}, align 64, !nontemporal
; CHECK: [[USUAL]]:
; CHECK-NEXT: store <16 x float> %{{.*}}, align 4{{$}}
define void @kernel(ptr %group, ptr addrspace(1) %out, i32 %x, float %va) {
  %to = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %va, ptr addrspace(1) %to, align 4, !simd.nontemporal !0
  ret void
}

; So are stores of half a line: the next gang stores the other half.
; CHECK-LABEL: define internal void @half_lines.wide
; CHECK: and i64 %{{.*}}, 31
; CHECK: store <16 x i16> %{{.*}}, align 32, !nontemporal
; CHECK: store <16 x i16> %{{.*}}, align 2{{$}}
define void @half_lines(ptr %group, ptr addrspace(1) %out, i32 %x, i16 %va) {
  %to = getelementptr i16, ptr addrspace(1) %out, i32 %x
  store i16 %va, ptr addrspace(1) %to, align 2, !simd.nontemporal !0
  ret void
}

!0 = !{}
