; RUN: specialize
; Constants that need a loop are computed, too.
; CHECK: @product = internal {{.*}}addrspace(2) {{.*}}i32 120
@count = external addrspace(2) constant i32
@product = internal addrspace(2) global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @compute, ptr null }]
define internal void @compute() {
entry:
  %count = load i32, ptr addrspace(2) @count
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %loop ]
  %so.far = phi i32 [ 1, %entry ], [ %product, %loop ]
  %product = mul i32 %so.far, %i
  %next = add i32 %i, 1
  %more = icmp sle i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  store i32 %product, ptr addrspace(2) @product
  ret void
}
define i32 @kernel() {
  %value = load volatile i32, ptr addrspace(2) @product
  ret i32 %value
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
!constants = !{!1}
!1 = !{!"count", i32 0, !"int", i64 5}
