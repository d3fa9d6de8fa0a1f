; RUN: retarget 4 neoverse-n1
; The features of a processor are those that LLVM finds by name: it warns of others for every kernel.
; CHECK: define void @kernel() #[[HERE:[0-9]+]]
define spir_func void @kernel() {
  ret void
}
; CHECK-NOT: contextidrel2
; CHECK: attributes #[[HERE]] = { {{.*}}"target-cpu"="neoverse-n1" "target-features"="{{.*}}+fullfp16{{.*}}+lse{{.*}}" }
