; RUN: nvptx-bitwise
; Two bitwise operations with constants become one instruction, whose table has bit 4a + 2b + c.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK-NEXT: %[[OR:.*]] = call i32 asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n"(i32 %x, i32 62915520, i32 1275087872, i32 234)
; CHECK-NEXT: store i32 %[[OR]]
; CHECK-NEXT: %[[AND:.*]] = call i32 asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n"(i32 %y, i32 5, i32 9, i32 40)
; CHECK-NEXT: store i32 %[[AND]]
; CHECK-NEXT: %[[TWICE:.*]] = and i32 %x, 7
; CHECK-NEXT: %[[USED:.*]] = or i32 %[[TWICE]], 16
; CHECK-NEXT: store i32 %[[USED]]
; CHECK-NEXT: store i32 %[[TWICE]]
; CHECK-NEXT: %[[COMPLEMENT:.*]] = xor i32 %x, -1
; CHECK-NEXT: %[[MASKED:.*]] = and i32 %[[COMPLEMENT]], 7
; CHECK-NEXT: store i32 %[[MASKED]]
; CHECK-NEXT: %[[LONG:.*]] = and i64 %z, 3
; CHECK-NEXT: or i64 %[[LONG]], 8
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %x, i32 %y, i64 %z) {
  %masked = and i32 %x, 62915520
  %number = or i32 %masked, 1275087872
  store i32 %number, ptr addrspace(1) %out
  %changed = xor i32 %y, 5
  %kept = and i32 %changed, 9
  store i32 %kept, ptr addrspace(1) %out
  %twice = and i32 %x, 7
  %used = or i32 %twice, 16
  store i32 %used, ptr addrspace(1) %out
  store i32 %twice, ptr addrspace(1) %out
  %complement = xor i32 %x, -1
  %masked.complement = and i32 %complement, 7
  store i32 %masked.complement, ptr addrspace(1) %out
  %long = and i64 %z, 3
  %long.or = or i64 %long, 8
  store i64 %long.or, ptr addrspace(1) %out
  ret void
}
