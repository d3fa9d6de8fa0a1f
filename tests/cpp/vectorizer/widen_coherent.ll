; RUN: widen 4
; Such a division bails out if lanes have different quotients. The function returns whether it has completed.
declare i32 @simd.coherent.udiv(i32, i32) memory(none)
; CHECK-LABEL: define internal i1 @kernel.wide
; CHECK: %[[ROW:.*]] = udiv i32 %x, %size
; CHECK: %[[PRODUCT:.*]] = mul i32 %[[ROW]], %size
; CHECK: %[[FIRST:.*]] = sub i32 %x, %[[PRODUCT]]
; CHECK: %[[ROOM:.*]] = call i32 @llvm.usub.sat.i32(i32 %size, i32 3)
; CHECK: %[[HOLDS:.*]] = icmp ult i32 %[[FIRST]], %[[ROOM]]
; CHECK: br i1 %[[HOLDS]], label %holds, label %bail.out
; CHECK: holds:
; CHECK: store i32 %[[ROW]], ptr addrspace(1) %out
; CHECK-NEXT: ret i1 true
; CHECK: bail.out:
; CHECK-NEXT: ret i1 false
define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %row = call i32 @simd.coherent.udiv(i32 %x, i32 %size)
  store i32 %row, ptr addrspace(1) %out
  ret void
}
; Integers that are not negative are divided as unsigned ones are. Lane 0 and the divisor tell whether all are.
declare i32 @simd.coherent.sdiv(i32, i32) memory(none)
; CHECK-LABEL: define internal i1 @signed.wide
; CHECK: %[[ROW:.*]] = udiv i32 %x, %size
; CHECK: %[[ONE:.*]] = icmp ult i32 %{{.*}}, %{{.*}}
; CHECK: %[[SMALL:.*]] = icmp ule i32 %x, 2147483644
; CHECK: %[[BOTH:.*]] = and i1 %[[ONE]], %[[SMALL]]
; CHECK: %[[POSITIVE:.*]] = icmp sgt i32 %size, 0
; CHECK: %[[HOLDS:.*]] = and i1 %[[BOTH]], %[[POSITIVE]]
; CHECK: br i1 %[[HOLDS]], label %holds, label %bail.out
define void @signed(ptr addrspace(1) %out, i32 %x, i32 %size) {
  %row = call i32 @simd.coherent.sdiv(i32 %x, i32 %size)
  store i32 %row, ptr addrspace(1) %out
  ret void
}
