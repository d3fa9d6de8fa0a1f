; RUN: widen 4
; The product of an index and a stride is one product for all lanes, as long as it is only used in addresses.
; CHECK-LABEL: define internal void @kernel.wide
; CHECK: %[[CLOSE:.*]] = icmp eq i64 %[[STEP:.*]], 4
; CHECK-NEXT: br i1 %[[CLOSE]], label %[[BLOCK:.*]], label %[[APART:.*]], !prof
; CHECK: [[BLOCK]]:
; CHECK-NEXT: load <4 x float>
; CHECK: [[APART]]:
; CHECK-NEXT: %[[ONE:.*]] = icmp eq i64 %[[STEP]], 0
; CHECK: load float
; CHECK: call void @simd.load.strided.4.4(ptr %{{.*}}, i64 %[[STEP]], ptr
define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x, i64 %stride, i64 %start) {
  %i = zext i32 %x to i64
  %offset = mul i64 %i, %stride
  %place = add i64 %offset, %start
  %from = getelementptr float, ptr addrspace(1) %in, i64 %place
  %value = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %value, ptr addrspace(1) %to, align 4
  ret void
}

; Without gathers, each lane's element is loaded at the address of the one before plus the stride.
; CHECK-LABEL: define internal void @simd.load.strided.4.4(ptr %0, i64 %1, ptr %2)
; CHECK: %[[TWICE:.*]] = add i64 %[[ONCE:.*]], %1
; CHECK: %[[FROM:.*]] = getelementptr i8, ptr %0, i64 %[[TWICE]]
; CHECK: %[[VALUE:.*]] = load i32, ptr %[[FROM]], align 1
; CHECK: insertelement <4 x i32> %{{.*}}, i32 %[[VALUE]], i64 2
; CHECK: store <4 x i32>
