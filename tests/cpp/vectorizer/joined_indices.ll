; RUN: joined-indices
; The quotient and the remainder of an index, as row and column of an array with rows of that length.
; CHECK-LABEL: define ptr addrspace(3) @unsigned
; CHECK: %[[AT:.*]] = zext i32 %i to i64
; CHECK: %[[FIRST:.*]] = getelementptr [18 x [18 x float]], ptr addrspace(3) %tile, i64 0, i64 0, i64 0
; CHECK: getelementptr float, ptr addrspace(3) %[[FIRST]], i64 %[[AT]]
define ptr addrspace(3) @unsigned(ptr addrspace(3) %tile, i32 %i) {
  %q = udiv i32 %i, 18
  %r = urem i32 %i, 18
  %row = sext i32 %q to i64
  %column = zext i32 %r to i64
  %at = getelementptr [18 x [18 x float]], ptr addrspace(3) %tile, i64 0, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; CHECK-LABEL: define ptr addrspace(1) @signed
; CHECK: %[[AT:.*]] = sext i32 %i to i64
; CHECK: %[[FIRST:.*]] = getelementptr [7 x i8], ptr addrspace(1) %buffer, i64 0, i64 0
; CHECK: getelementptr i8, ptr addrspace(1) %[[FIRST]], i64 %[[AT]]
define ptr addrspace(1) @signed(ptr addrspace(1) %buffer, i32 %i) {
  %q = sdiv i32 %i, 7
  %r = srem i32 %i, 7
  %row = sext i32 %q to i64
  %column = sext i32 %r to i64
  %at = getelementptr [7 x i8], ptr addrspace(1) %buffer, i64 %row, i64 %column
  ret ptr addrspace(1) %at
}
; CHECK-LABEL: define ptr addrspace(1) @wide
; CHECK: getelementptr i8, ptr addrspace(1) %{{.*}}, i64 %i
define ptr addrspace(1) @wide(ptr addrspace(1) %buffer, i64 %i) {
  %row = sdiv i64 %i, 7
  %column = srem i64 %i, 7
  %at = getelementptr [7 x i8], ptr addrspace(1) %buffer, i64 %row, i64 %column
  ret ptr addrspace(1) %at
}
; Rows that are longer, other numbers, and negative ones that are extended without their signs, stay.
; CHECK-LABEL: define ptr addrspace(3) @padded
; CHECK: getelementptr [18 x [19 x float]], ptr addrspace(3) %tile, i64 0, i64 %row, i64 %column
define ptr addrspace(3) @padded(ptr addrspace(3) %tile, i32 %i) {
  %q = udiv i32 %i, 18
  %r = urem i32 %i, 18
  %row = sext i32 %q to i64
  %column = sext i32 %r to i64
  %at = getelementptr [18 x [19 x float]], ptr addrspace(3) %tile, i64 0, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; CHECK-LABEL: define ptr addrspace(3) @two
; CHECK: getelementptr [18 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
define ptr addrspace(3) @two(ptr addrspace(3) %tile, i32 %i, i32 %j) {
  %q = udiv i32 %i, 18
  %r = urem i32 %j, 18
  %row = sext i32 %q to i64
  %column = sext i32 %r to i64
  %at = getelementptr [18 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; CHECK-LABEL: define ptr addrspace(3) @negative
; CHECK: getelementptr [18 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
define ptr addrspace(3) @negative(ptr addrspace(3) %tile, i32 %i) {
  %q = sdiv i32 %i, 18
  %r = srem i32 %i, 18
  %row = sext i32 %q to i64
  %column = zext i32 %r to i64
  %at = getelementptr [18 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; CHECK-LABEL: define ptr addrspace(3) @bytes
; CHECK: getelementptr [200 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
define ptr addrspace(3) @bytes(ptr addrspace(3) %tile, i8 %i) {
  %q = udiv i8 %i, 200
  %r = urem i8 %i, 200
  %row = sext i8 %q to i64
  %column = sext i8 %r to i64
  %at = getelementptr [200 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; -56 as a signed integer.
; CHECK-LABEL: define ptr addrspace(3) @signed_bytes
; CHECK: getelementptr [200 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
define ptr addrspace(3) @signed_bytes(ptr addrspace(3) %tile, i8 %i) {
  %q = sdiv i8 %i, 200
  %r = srem i8 %i, 200
  %row = sext i8 %q to i64
  %column = sext i8 %r to i64
  %at = getelementptr [200 x float], ptr addrspace(3) %tile, i64 %row, i64 %column
  ret ptr addrspace(3) %at
}
; Indices of 32 bits are signed.
; CHECK-LABEL: define ptr addrspace(3) @short
; CHECK: getelementptr [18 x float], ptr addrspace(3) %tile, i32 %q, i32 %r
define ptr addrspace(3) @short(ptr addrspace(3) %tile, i32 %i) {
  %q = udiv i32 %i, 18
  %r = urem i32 %i, 18
  %at = getelementptr [18 x float], ptr addrspace(3) %tile, i32 %q, i32 %r
  ret ptr addrspace(3) %at
}
