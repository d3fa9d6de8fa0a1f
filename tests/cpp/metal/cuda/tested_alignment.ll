; RUN: nvptx-tested-alignment
; Accesses to elements side by side become one where the address is a multiple of their size.
; CHECK-LABEL: define ptx_kernel void @four(
; CHECK: %[[FROM:.*]] = ptrtoint ptr addrspace(1) %{{.*}} to i64
; CHECK: %[[LOW:.*]] = and i64 %[[FROM]], 15
; CHECK: %[[IS_ALIGNED:.*]] = icmp eq i64 %[[LOW]], 0
; CHECK: br i1 %[[IS_ALIGNED]]
; CHECK: load <4 x float>, ptr addrspace(1) %{{.*}}, align 16, !invariant.load
; CHECK: load float, ptr addrspace(1) %{{.*}}, align 4, !invariant.load
; CHECK: phi float
; CHECK: insertelement <4 x float>
; CHECK: store <4 x float> %{{.*}}, ptr addrspace(1) %{{.*}}, align 16
; CHECK: store float %va
; CHECK: store float %vd
define ptx_kernel void @four(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %i) {
  %a = getelementptr float, ptr addrspace(1) %in, i64 %i
  %b = getelementptr i8, ptr addrspace(1) %a, i64 4
  %c = getelementptr i8, ptr addrspace(1) %a, i64 8
  %d = getelementptr i8, ptr addrspace(1) %a, i64 12
  %va = load float, ptr addrspace(1) %a, align 4, !invariant.load !0
  %vb = load float, ptr addrspace(1) %b, align 4, !invariant.load !0
  %vc = load float, ptr addrspace(1) %c, align 4, !invariant.load !0
  %vd = load float, ptr addrspace(1) %d, align 4, !invariant.load !0
  %oa = getelementptr float, ptr addrspace(1) %out, i64 %i
  %ob = getelementptr i8, ptr addrspace(1) %oa, i64 4
  %oc = getelementptr i8, ptr addrspace(1) %oa, i64 8
  %od = getelementptr i8, ptr addrspace(1) %oa, i64 12
  store float %va, ptr addrspace(1) %oa, align 4
  store float %vb, ptr addrspace(1) %ob, align 4
  store float %vc, ptr addrspace(1) %oc, align 4
  store float %vd, ptr addrspace(1) %od, align 4
  ret void
}
!0 = !{}
