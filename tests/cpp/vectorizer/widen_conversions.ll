; RUN: widen 4 x86-64-v3
; Floats out of range saturate, and NaN gives 0, in vector instructions.
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i32 @llvm.fptoui.sat.i32.f32(float)
declare i8 @llvm.fptosi.sat.i8.f32(float)
; CHECK-LABEL: define internal void @to_int.wide
; CHECK: %[[PLAIN:.*]] = fptosi <4 x float> %[[X:.*]] to <4 x i32>
; CHECK: %[[FROZEN:.*]] = freeze <4 x i32> %[[PLAIN]]
; CHECK: fcmp oge <4 x float> %[[X]], <float 0x41E0000000000000,
; CHECK: select <4 x i1> %{{.*}}, <4 x i32> <i32 2147483647, {{.*}}, <4 x i32> %[[FROZEN]]
; CHECK: fcmp olt <4 x float> %[[X]], <float 0xC1E0000000000000,
; CHECK: select <4 x i1> %{{.*}}, <4 x i32> <i32 -2147483648,
; CHECK: fcmp ord <4 x float> %[[X]], %[[X]]
; CHECK: select <4 x i1> %{{.*}}, <4 x i32> %{{.*}}, <4 x i32> zeroinitializer
define void @to_int(ptr addrspace(1) %out, i32 %x, float %v) {
  %number = call i32 @llvm.fptosi.sat.i32.f32(float %v)
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %number, ptr addrspace(1) %to
  ret void
}
; Negative values and NaN give 0.
; CHECK-LABEL: define internal void @to_uint.wide
; CHECK: fptoui <4 x float> %[[X:.*]] to <4 x i32>
; CHECK: fcmp oge <4 x float> %[[X]], <float 0x41F0000000000000,
; CHECK: fcmp oge <4 x float> %[[X]], zeroinitializer
define void @to_uint(ptr addrspace(1) %out, i32 %x, float %v) {
  %number = call i32 @llvm.fptoui.sat.i32.f32(float %v)
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %number, ptr addrspace(1) %to
  ret void
}
; Floats can represent the bounds of small types.
; CHECK-LABEL: define internal void @to_char.wide
; CHECK: fcmp ogt <4 x float> %[[X:.*]], <float -1.280000e+02,
; CHECK: %[[INSIDE:.*]] = select <4 x i1> %{{.*}}, <4 x float> %{{.*}}, <4 x float> <float 1.270000e+02,
; CHECK: %[[NUMBERS:.*]] = fptosi <4 x float> %[[INSIDE]] to <4 x i32>
; CHECK: trunc <4 x i32> %[[NUMBERS]] to <4 x i8>
define void @to_char(ptr addrspace(1) %out, i32 %x, float %v) {
  %number = call i8 @llvm.fptosi.sat.i8.f32(float %v)
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %x
  store i8 %number, ptr addrspace(1) %to
  ret void
}
