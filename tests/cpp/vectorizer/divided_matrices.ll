; RUN: divided-matrices 32
; A matrix that not all lanes load, or that has different addresses in lanes, is loaded lane by lane.
declare void @simd.mask(i1)
define internal i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %row, i64 %column, i32 %lane) noinline {
  %at = getelementptr i64, ptr addrspace(1) %p, i32 %lane
  %pair = load i64, ptr addrspace(1) %at
  ret i64 %pair
}
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: %whole = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %pitch, i64 1, i32 %x)
; CHECK-NEXT: %own = getelementptr
; CHECK-NEXT: getelementptr i64, ptr addrspace(1) %own, i32 %x
; CHECK-NEXT: load i64
; CHECK-NEXT: getelementptr i64, ptr addrspace(1) %p, i32 %x
; CHECK-NEXT: load i64
; CHECK-NEXT: getelementptr i64, ptr addrspace(1) %p, i32 %x
; CHECK-NEXT: load i64
; CHECK-NEXT: getelementptr i64, ptr addrspace(1) %p, i32 3
; CHECK-NEXT: load i64
; CHECK-NEXT: br label %some
define void @kernel(ptr addrspace(1) %p, ptr addrspace(1) %out, i64 %pitch, i32 %x, i64 %vary) {
  %whole = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %pitch, i64 1, i32 %x)
  %own = getelementptr i8, ptr addrspace(1) %p, i64 %vary
  %apart = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %own, i64 %pitch, i64 1, i32 %x)
  %rows = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %vary, i64 1, i32 %x)
  %columns = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 1, i64 %vary, i32 %x)
  %other = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %pitch, i64 1, i32 3)
  br label %some
some:
; CHECK: call void @simd.mask(i1 %runs)
; CHECK-NEXT: getelementptr
; CHECK-NEXT: load i64
; CHECK-NEXT: br label %all
  %runs = icmp slt i64 %vary, 7
  call void @simd.mask(i1 %runs)
  %masked = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %pitch, i64 2, i32 %x)
  br label %all
all:
; CHECK: call i64 @__metal_simdgroup_load_device_32
  %same = icmp slt i64 %pitch, 7
  call void @simd.mask(i1 %same)
  %again = call i64 @__metal_simdgroup_load_device_32(ptr addrspace(1) %p, i64 %pitch, i64 2, i32 %x)
  ret void
}
