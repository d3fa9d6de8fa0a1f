; RUN: read-annotations,clear-zeroed
; The threads first clear a variable that is declared with zeros, word by word, and wait for each other. Otherwise they
; would read the memory's old contents.
; CHECK-NOT: llvm.global.annotations
; CHECK-LABEL: define void @kernel(
; CHECK: %own = alloca i32
; CHECK: %[[THREAD:.*]] = call i32 @__metal_get_thread_index_in_threadgroup(i32 0)
; CHECK-COUNT-2: mul i32
; CHECK: %[[THREADS:.*]] = mul i32 %{{.*}}, %{{.*}}
; CHECK: clear:
; CHECK-NEXT: %[[I:.*]] = phi i32 [ %[[THREAD]], %{{.*}} ], [ %[[NEXT:.*]], %clear.word ]
; CHECK-NEXT: icmp ult i32 %[[I]], 3
; CHECK: clear.word:
; CHECK: %[[AT:.*]] = getelementptr inbounds i32, ptr addrspace(3) @zeroed, i64
; CHECK-NEXT: store i32 0, ptr addrspace(3) %[[AT]]
; CHECK-NEXT: %[[NEXT]] = add i32 %[[I]], %[[THREADS]]
; CHECK: cleared:
; Seven bytes are not a whole number of words.
; CHECK: icmp ult i32 %{{.*}}, 7
; CHECK: store i8 0, ptr addrspace(3)
; CHECK: call void @__metal_barrier(i32 1, i32 2)
; CHECK: call void @callee()
; Other variables are not cleared, such as those of another kernel and those without zeros.
; CHECK-NOT: store
; CHECK: ret void
@zeroed = internal addrspace(3) global [3 x i32] undef, align 4
@bytes = internal addrspace(3) global [7 x i8] undef, align 1
@plain = internal addrspace(3) global [3 x i32] undef, align 4
@of_another = internal addrspace(3) global [3 x i32] undef, align 4
@text = private constant [15 x i8] c"metal.__zeroed\00"
@buffer = private constant [15 x i8] c"metal.buffer_\00\00"
@llvm.global.annotations = appending global [4 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(3) @zeroed to ptr), ptr @text, ptr null, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(3) @plain to ptr), ptr @buffer, ptr null, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(3) @of_another to ptr), ptr @text, ptr null, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(3) @bytes to ptr), ptr @text, ptr null, i32 1, ptr null }], section "llvm.metadata"
define void @kernel() {
  %own = alloca i32
  call void @callee()
  ret void
}
define internal void @callee() {
  %first = load i32, ptr addrspace(3) @zeroed
  %second = load i8, ptr addrspace(3) @bytes
  %third = load i32, ptr addrspace(3) @plain
  ret void
}
!kernel = !{!0}
!0 = !{!"kernel", !"kernel"}
