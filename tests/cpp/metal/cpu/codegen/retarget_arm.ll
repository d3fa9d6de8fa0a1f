; RUN: retarget 4 neoverse-v1
; The features of a processor are those that LLVM finds by name, as it warns of others for every kernel. SVE is not used.
; CHECK: define void @kernel() #[[HERE:[0-9]+]]
define spir_func void @kernel() {
  ret void
}
; CHECK-NOT: contextidrel2
; CHECK: attributes #[[HERE]] = { {{.*}}"target-cpu"="neoverse-v1" "target-features"="{{.*}}+fullfp16{{.*}}+lse{{.*}},-sve" }
