; RUN: constant-loads
; A value from constant memory is not loaded again after a store.
; CHECK: load i32, ptr addrspace(2) %table, align 4, !invariant.load
; Other memory is loaded again, as the store may have changed it.
; CHECK: load i32, ptr addrspace(1) %out, align 4{{$}}
; CHECK: load i32, ptr addrspace(3) %tile, align 4{{$}}
; CHECK: load i32, ptr %own, align 4{{$}}
define void @kernel.body(ptr addrspace(1) %out, ptr addrspace(2) %table, ptr addrspace(3) %tile) {
  %own = alloca i32
  %a = load i32, ptr addrspace(2) %table, align 4
  store i32 %a, ptr %own
  %b = load i32, ptr addrspace(1) %out, align 4
  %c = load i32, ptr addrspace(3) %tile, align 4
  %d = load i32, ptr %own, align 4
  ret void
}
