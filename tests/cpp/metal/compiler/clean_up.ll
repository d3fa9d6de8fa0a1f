; RUN: clean-up
; Generic pointers become pointers to the address space of their object, as each driver maps address spaces in its own
; way. Expected values become branch weights.
; CHECK-LABEL: define void @kernel
; CHECK-NOT: addrspacecast
; CHECK: br i1 %some, label %{{.*}}, label %{{.*}}, !prof
; CHECK: store i32 1, ptr addrspace(1) %out
define void @kernel(ptr addrspace(1) %out, i1 %some) {
  %any = addrspacecast ptr addrspace(1) %out to ptr addrspace(4)
  %place = alloca ptr addrspace(4)
  store ptr addrspace(4) %any, ptr %place
  %wanted = call i1 @llvm.expect.i1(i1 %some, i1 false)
  br i1 %wanted, label %then, label %done
then:
  %to = load ptr addrspace(4), ptr %place
  store i32 1, ptr addrspace(4) %to
  call void @__metal_barrier(i32 1, i32 2)
  br label %done
done:
  ret void
}
declare i1 @llvm.expect.i1(i1, i1)
declare void @__metal_barrier(i32, i32)
; A pointer to one of several objects stays generic. Stores that other threads may see stay, too.
; CHECK-LABEL: define void @either
; CHECK: store i32 1, ptr addrspace(4)
; CHECK-NEXT: call void @__metal_barrier
; CHECK-NEXT: store i32 2, ptr addrspace(4)
define void @either(ptr addrspace(1) %out, ptr addrspace(3) %tile, i1 %which) {
  %a = addrspacecast ptr addrspace(1) %out to ptr addrspace(4)
  %b = addrspacecast ptr addrspace(3) %tile to ptr addrspace(4)
  %to = select i1 %which, ptr addrspace(4) %a, ptr addrspace(4) %b
  store i32 1, ptr addrspace(4) %to
  call void @__metal_barrier(i32 1, i32 2)
  store i32 2, ptr addrspace(4) %to
  ret void
}
