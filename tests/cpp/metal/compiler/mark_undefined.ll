; RUN: mark-undefined
; What Clang stores in variables without a value becomes values that say so, one for each element; a
; large variable is marked by one call. Other stores stay.
; CHECK-LABEL: define void @kernel
; CHECK: %[[A:.*]] = call i32 @"__metal_undefined:n:i32"()
; CHECK: store i32 %[[A]], ptr
; CHECK: %[[X:.*]] = call float @"__metal_undefined:v:float"()
; CHECK: store float %[[X]], ptr
; CHECK: store float %{{.*}}, ptr
; CHECK: %[[P:.*]] = call i8 @"__metal_undefined:p:i8"()
; CHECK: %[[Q:.*]] = call i64 @"__metal_undefined:p:i64"()
; CHECK: call void @"__metal_undefine:large"(ptr nocapture %large, i64 1200)
; CHECK: store i32 -1431655766, ptr %n, align 4
; CHECK-NOT: auto-init
define void @kernel() {
  %n = alloca i32, align 4
  %v = alloca <2 x float>, align 8
  %p = alloca { i8, i64 }, align 8
  %large = alloca [300 x float], align 4
  store i32 -1431655766, ptr %n, align 4, !annotation !0
  store <2 x float> <float 0xFFFFFFFFE0000000, float 0xFFFFFFFFE0000000>, ptr %v, align 8, !annotation !0
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 -86, i64 16, i1 false), !annotation !0
  call void @llvm.memset.p0.i64(ptr align 4 %large, i8 -1, i64 1200, i1 false), !annotation !0
  store i32 -1431655766, ptr %n, align 4
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
!0 = !{!"auto-init"}
