; RUN: lower-messages
; A message becomes a call of the runtime, with the position of its thread between the texts and the values.
; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: [[X:%.*]] = call i32 @__metal_get_thread_position_in_grid(i32 0)
; CHECK-NEXT: [[Y:%.*]] = call i32 @__metal_get_thread_position_in_grid(i32 1)
; CHECK-NEXT: [[Z:%.*]] = call i32 @__metal_get_thread_position_in_grid(i32 2)
; CHECK-NEXT: call void (i32, ptr, ptr, ptr, i32, i32, i32, ...) @metal_cpu_log(i32 2, ptr @subsystem, ptr @category, ptr @format, i32 [[X]], i32 [[Y]], i32 [[Z]], i32 %a, double %b)
; CHECK-NEXT: ret void
; CHECK-NOT: __metal_log
; CHECK: declare void @metal_cpu_log(i32, ptr, ptr, ptr, i32, i32, i32, ...) [[ATTRIBUTES:#.*]]
; CHECK: attributes [[ATTRIBUTES]] = { nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) }
@subsystem = private constant [2 x i8] c"s\00"
@category = private constant [2 x i8] c"c\00"
@format = private constant [6 x i8] c"%d %f\00"
define void @kernel(i32 %a, double %b) {
  call void (i32, ptr, ptr, ptr, ...) @__metal_log(i32 2, ptr @subsystem, ptr @category, ptr @format, i32 %a, double %b)
  ret void
}
declare void @__metal_log(i32, ptr, ptr, ptr, ...)
