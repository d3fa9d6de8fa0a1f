; RUN: nvptx-early-reads
; Reads of constant buffers move in front of relaxed atomic operations, and of a branch that guards one.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: %a = load i32
; CHECK: %b.from = getelementptr
; CHECK-NEXT: %b = load i32
; CHECK-NEXT: %c.from = getelementptr
; CHECK-NEXT: %c = load i32
; CHECK: %first = atomicrmw
; CHECK: br i1 %is.bin, label %add, label %next
; CHECK: next:
; CHECK-NOT: load

; They stay behind barriers, stronger operations, and in blocks that other threads skip.
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: %d = load i32
; CHECK: fence
; CHECK: %e = load i32
; CHECK: br i1
; CHECK: %f = load i32

; What may be written stays.
; CHECK: last:
; CHECK: %third = atomicrmw
; CHECK: %g = load i32

define ptx_kernel void @kernel(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out,
                               ptr addrspace(3) %counts) {
  %a = load i32, ptr addrspace(1) %in
  %at = getelementptr i32, ptr addrspace(3) %counts, i32 %a
  %first = atomicrmw add ptr addrspace(3) %at, i32 1 monotonic
  %b.from = getelementptr i8, ptr addrspace(1) %in, i64 4
  %b = load i32, ptr addrspace(1) %b.from
  %at.b = getelementptr i32, ptr addrspace(3) %counts, i32 %b
  %second = atomicrmw add ptr addrspace(3) %at.b, i32 1 monotonic
  br label %test
test:
  %is.bin = icmp ult i32 %a, 256
  br i1 %is.bin, label %add, label %next
add:
  %guarded = atomicrmw add ptr addrspace(3) %counts, i32 %b monotonic
  br label %next
next:
  %c.from = getelementptr i8, ptr addrspace(1) %in, i64 8
  %c = load i32, ptr addrspace(1) %c.from
  %more = atomicrmw add ptr addrspace(3) %counts, i32 %c monotonic
  call void @llvm.nvvm.barrier0()
  %d.from = getelementptr i8, ptr addrspace(1) %in, i64 12
  %d = load i32, ptr addrspace(1) %d.from
  %again = atomicrmw add ptr addrspace(3) %counts, i32 %d monotonic
  fence seq_cst
  %e.from = getelementptr i8, ptr addrspace(1) %in, i64 16
  %e = load i32, ptr addrspace(1) %e.from
  %other = atomicrmw add ptr addrspace(3) %counts, i32 %e monotonic
  br i1 %is.bin, label %maybe, label %last
maybe:
  %f.from = getelementptr i8, ptr addrspace(1) %in, i64 20
  %f = load i32, ptr addrspace(1) %f.from
  store i32 %f, ptr addrspace(1) %out
  br label %last
last:
  %third = atomicrmw add ptr addrspace(3) %counts, i32 3 monotonic
  %g.from = getelementptr i8, ptr addrspace(1) %out, i64 24
  %g = load i32, ptr addrspace(1) %g.from
  store i32 %g, ptr addrspace(1) %out
  ret void
}

declare void @llvm.nvvm.barrier0()
