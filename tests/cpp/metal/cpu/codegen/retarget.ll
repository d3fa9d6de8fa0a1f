; RUN: retarget 4 x86-64-v3
; Functions get the processor's attributes and probe each page of their stack: a frame that skipped the guard page would
; write to other memory.
; CHECK: declare float @outside(float){{$}}
; CHECK: define void @kernel() #[[HERE:[0-9]+]]
; CHECK: call float @outside(
declare spir_func float @outside(float)
define spir_func void @kernel() #0 {
  %value = call spir_func float @outside(float 0.0)
  ret void
}
; With fused multiply-adds, fast operations stay fast.
; CHECK: fmul reassoc
define float @fused(float %x) {
  %big = call reassoc float @llvm.fma.f32(float %x, float 2.0, float 8388608.0)
  %twice = fmul reassoc float %big, 2.0
  ret float %twice
}
declare float @llvm.fma.f32(float, float, float)
; CHECK: attributes #[[HERE]] = { "no-nans-fp-math"="true" "probe-stack"="inline-asm" "target-cpu"="x86-64-v3" "target-features"="{{.*}}+fma{{.*}}" }
attributes #0 = { "target-cpu"="generic" "tune-cpu"="generic" "min-legal-vector-width"="256" "no-nans-fp-math"="true" }
