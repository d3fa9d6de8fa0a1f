; RUN: nvptx-tested-alignment
; Nothing for accesses that may not move to each other, and none with a known alignment.
; CHECK-LABEL: define ptx_kernel i32 @apart(
; CHECK-NOT: ptrtoint
; CHECK: ret i32
define ptx_kernel i32 @apart(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %b = getelementptr i8, ptr addrspace(1) %in, i64 4
  %va = load i32, ptr addrspace(1) %in, align 4
  store i32 %va, ptr addrspace(1) %out, align 4
  %vb = load i32, ptr addrspace(1) %b, align 4
  %c = getelementptr i8, ptr addrspace(1) %in, i64 64
  %d = getelementptr i8, ptr addrspace(1) %in, i64 68
  %vc = load i32, ptr addrspace(1) %c, align 8
  %vd = load i32, ptr addrspace(1) %d, align 4
  %ob = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %vc, ptr addrspace(1) %ob, align 4
  %sum = add i32 %vb, %vd
  ret i32 %sum
}
