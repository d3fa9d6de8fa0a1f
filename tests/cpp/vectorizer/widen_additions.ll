; RUN: widen 32
; Deferred additions are written to a list: a row, if all lanes add to it and it is in one region of memory.
; CHECK-LABEL: define internal void @row.wide
; CHECK: %[[OFFSET:.*]] = and i64 %{{.*}}, 511
; CHECK: %[[FITS:.*]] = icmp ule i64 %[[OFFSET]], 384
; CHECK: br i1 %[[FITS]], label %[[WAITS:.*]], label %[[AT_ONCE:.*]], !prof
; CHECK: [[WAITS]]:
; CHECK: %[[COUNT:.*]] = load i32, ptr
; CHECK: %[[FULL:.*]] = load i32, ptr
; CHECK: store ptr %{{.*}}, ptr
; CHECK: store <32 x float> %{{.*}}, ptr %{{.*}}, align 64
; CHECK: %[[NEXT:.*]] = add i32 %[[COUNT]], 1
; CHECK: store i32 %[[NEXT]], ptr
; CHECK: icmp uge i32 %[[NEXT]], %[[FULL]]
; CHECK: [[AT_ONCE]]:
; CHECK: call void @metal_cpu_atomic_add_row_f32
; CHECK: call void @metal_cpu_make_additions(ptr %group)
define void @row(ptr %group, ptr addrspace(1) %out, i32 %lane, float %value) {
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  %old = atomicrmw fadd ptr addrspace(1) %to, float %value monotonic, align 4, !simd.deferred !0
  ret void
}

; To one address, the sum of the lanes' operands is added.
; CHECK-LABEL: define internal void @number.wide
; CHECK: %[[PLACE:.*]] = addrspacecast ptr addrspace(1) %out to ptr
; CHECK: store ptr %[[PLACE]], ptr
; CHECK: store float %{{.*}}, ptr
; CHECK-NOT: metal_cpu_atomic_add_f32
; CHECK: ret void
define void @number(ptr %group, ptr addrspace(1) %out, float %vary) {
  %old = atomicrmw fadd ptr addrspace(1) %out, float %vary monotonic, align 4, !simd.deferred !0
  ret void
}

; Lanes that add to places of their own append them all at once.
; CHECK-LABEL: define internal void @places.wide
; CHECK: store <32 x ptr> %{{.*}}, ptr
; CHECK: store <32 x float> %value, ptr
; CHECK: add i32 %{{.*}}, 32
; CHECK-NOT: metal_cpu_atomic_add_f32
; CHECK: ret void
define void @places(ptr %group, ptr addrspace(1) %out, i32 %vary, float %value) {
  %to = getelementptr float, ptr addrspace(1) %out, i32 %vary
  %old = atomicrmw fadd ptr addrspace(1) %to, float %value monotonic, align 4, !simd.deferred !0
  ret void
}

!0 = !{}
