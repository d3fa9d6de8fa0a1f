; RUN: convergent-calls
; Each call at which threads wait has a number. Numbers grow in the order of control flow, and threads at smaller
; numbers continue first.
; CHECK-LABEL: define void @kernel.body(
; CHECK: call void @metal_cpu_barrier(ptr %group, i32 0, i32 1, i32 2)
; CHECK: yes:
; CHECK-NEXT: call i32 @metal_cpu_simd_sum(ptr %group, i32 1, i32 %thread)
; CHECK: done:
; CHECK-NEXT: call zeroext i8 @metal_cpu_simd_any(ptr %group, i32 2, i8 zeroext 1)
; Other calls stay, as threads do not wait there.
; CHECK-NEXT: call void @outside(i32 1)
; CHECK-NEXT: call void @__metal_defined()
define void @kernel.body(ptr align 8 dereferenceable(80) %group, i32 %thread) {
entry:
  call void @__metal_barrier(i32 1, i32 2)
  %some = icmp eq i32 %thread, 0
  br i1 %some, label %yes, label %done
yes:
  %sum = call i32 @__metal_simd_sum(i32 %thread)
  br label %done
done:
  %any = call zeroext i8 @__metal_simd_any(i8 zeroext 1)
  call void @outside(i32 1)
  call void @__metal_defined()
  ret void
}
declare void @__metal_barrier(i32, i32)
declare i32 @__metal_simd_sum(i32)
declare zeroext i8 @__metal_simd_any(i8 zeroext)
declare void @outside(i32)
define internal void @__metal_defined() {
  ret void
}
