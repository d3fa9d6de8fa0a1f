; RUN: threadgroup-memory
; A threadgroup's variables follow each other in its memory, aligned to 16 bytes or more.
; CHECK-NOT: @first
; CHECK-NOT: @second
; Other variables stay. Unused ones take no memory.
; CHECK: @table = internal addrspace(2) constant
; CHECK-LABEL: define void @kernel.body(ptr %group
; CHECK: %[[PLACE:.*]] = getelementptr inbounds i8, ptr %group, i64 8
; CHECK-NEXT: %[[MEMORY:.*]] = load ptr, ptr %[[PLACE]], {{.*}}!invariant.load
; CHECK-NEXT: %[[TILES:.*]] = addrspacecast ptr %[[MEMORY]] to ptr addrspace(3)
; CHECK-NEXT: %[[FIRST:.*]] = getelementptr inbounds i8, ptr addrspace(3) %[[TILES]], i64 0
; CHECK-NEXT: %[[SECOND:.*]] = getelementptr inbounds i8, ptr addrspace(3) %[[TILES]], i64 64
; CHECK: store i32 1, ptr addrspace(3) %[[FIRST]]
; CHECK-NEXT: %[[ELEMENT:.*]] = getelementptr i32, ptr addrspace(3) %[[SECOND]], i64 5
; CHECK-NEXT: store i32 2, ptr addrspace(3) %[[ELEMENT]]
; CHECK: load i32, ptr addrspace(2) @table
@first = internal addrspace(3) global [3 x i32] undef, align 4
@unused = internal addrspace(3) global [100 x i32] undef, align 4
@second = internal addrspace(3) global [8 x i32] undef, align 64
@table = internal addrspace(2) constant i32 7
define void @kernel.body(ptr %group) {
  store i32 1, ptr addrspace(3) @first
  store i32 2, ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @second, i64 5)
  %entry = load i32, ptr addrspace(2) @table
  store i32 %entry, ptr addrspace(3) @first
  ret void
}
