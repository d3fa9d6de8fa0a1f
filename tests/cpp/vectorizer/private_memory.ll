; RUN: private-memory 4
; The lanes' copies of an element are neighbours if all accesses have one size. Otherwise the copies of the variable
; follow each other, with room for one more on both sides.
; CHECK-LABEL: define i32 @one_size
; CHECK: %[[ALL:.*]] = alloca [32 x i8], align 64
; CHECK: %[[BYTES:.*]] = mul i64 %i, 4
; CHECK: %[[OFFSET:.*]] = add i64 0, %[[BYTES]]
; CHECK: %[[ROW:.*]] = mul i64 %[[OFFSET]], 4
; CHECK: %[[ELEMENT:.*]] = getelementptr i8, ptr %[[ALL]], i64 %[[ROW]]
; CHECK: %[[LANE:.*]] = zext i32 %lane to i64
; CHECK: %[[COLUMN:.*]] = mul i64 %[[LANE]], 4
; CHECK: %[[AT:.*]] = getelementptr i8, ptr %[[ELEMENT]], i64 %[[COLUMN]]
; CHECK: store i32 %lane, ptr %[[AT]]
define i32 @one_size(i32 %lane, i64 %i) {
  %array = alloca [2 x i32]
  %at = getelementptr i32, ptr %array, i64 %i
  store i32 %lane, ptr %at
  %value = load i32, ptr %at
  ret i32 %value
}
; CHECK-LABEL: define i8 @two_sizes
; CHECK: %[[ALL:.*]] = alloca [48 x i8], align 64, !simd.copies
; CHECK: %[[LANE:.*]] = zext i32 %lane to i64
; CHECK: %[[COPY:.*]] = add i64 %[[LANE]], 1
; CHECK: %[[BYTES:.*]] = mul i64 %[[COPY]], 8
; CHECK: %[[OWN:.*]] = getelementptr i8, ptr %[[ALL]], i64 %[[BYTES]]
; CHECK: %at = getelementptr i32, ptr %[[OWN]], i64 %i
define i8 @two_sizes(i32 %lane, i64 %i) {
  %array = alloca [2 x i32]
  %at = getelementptr i32, ptr %array, i64 %i
  store i32 %lane, ptr %at
  %value = load i8, ptr %at
  ret i8 %value
}
; Accesses of one size whose addresses are not multiples of it.
; CHECK-LABEL: define i64 @between
; CHECK: %[[ALL:.*]] = alloca [{{.*}} x i8], align 64, !simd.copies
define i64 @between(i32 %lane, i64 %i) {
  %array = alloca [6 x i32]
  %second = getelementptr i32, ptr %array, i64 1
  %at = getelementptr i64, ptr %second, i64 %i
  %own = zext i32 %lane to i64
  store i64 %own, ptr %at, align 4
  %value = load i64, ptr %at, align 4
  ret i64 %value
}
; CHECK-LABEL: define i64 @half_apart
; CHECK: %[[ALL:.*]] = alloca [{{.*}} x i8], align 64, !simd.copies
define i64 @half_apart(i32 %lane, i64 %i) {
  %array = alloca [6 x i32]
  %at = getelementptr i32, ptr %array, i64 %i
  %own = zext i32 %lane to i64
  store i64 %own, ptr %at, align 4
  %value = load i64, ptr %at, align 4
  ret i64 %value
}
