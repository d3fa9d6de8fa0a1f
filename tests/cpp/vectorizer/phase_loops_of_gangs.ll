; RUN: bounded-phases 4
; A threadgroup has 8 gangs of 4 threads. Each has its own copy of a loop: the loop over the gangs is unrolled, so that
; no gang has to choose. That of another phase stays as it is.
declare void @simd.barrier()
; CHECK-LABEL: define void @copies(
; CHECK: switch i32 %{{.*}}, label %last
; CHECK: br i1 %{{.*}}, label %{{.*}}, label %{{.*}}, !llvm.loop ![[LOOP:[0-9]+]]
; CHECK-NOT: !llvm.loop
; CHECK: ![[LOOP]] = distinct !{![[LOOP]], ![[FULL:[0-9]+]]}
; CHECK: ![[FULL]] = !{!"llvm.loop.unroll.full"}
define void @copies(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) "simd.loops_of_gangs" {
entry:
  %gang = lshr i32 %index, 2
  switch i32 %gang, label %last [
    i32 0, label %first
    i32 1, label %second
    i32 2, label %third
    i32 3, label %fourth
    i32 4, label %fifth
  ]
first:
  store volatile i32 0, ptr %group
  br label %end
second:
  store volatile i32 1, ptr %group
  br label %end
third:
  store volatile i32 2, ptr %group
  br label %end
fourth:
  store volatile i32 3, ptr %group
  br label %end
fifth:
  store volatile i32 4, ptr %group
  br label %end
last:
  store volatile i32 5, ptr %group
  br label %end
end:
  call void @simd.barrier()
  %out = getelementptr i32, ptr %group, i32 %index
  store volatile i32 %x, ptr %out
  ret void
}
