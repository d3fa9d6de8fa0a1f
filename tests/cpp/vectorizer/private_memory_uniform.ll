; RUN: private-memory 4
; A variable that all lanes fill alike keeps one copy, also if they read different elements of it.
; CHECK-LABEL: define i32 @table
; CHECK: alloca [2 x i32]
; CHECK-NOT: simd.copies
define i32 @table(i32 %lane, i32 %a, i32 %b) {
  %table = alloca [2 x i32]
  store i32 %a, ptr %table
  %second = getelementptr i32, ptr %table, i64 1
  store i32 %b, ptr %second
  %at = getelementptr i32, ptr %table, i32 %lane
  %value = load i32, ptr %at
  ret i32 %value
}
; Lanes that are kept out have done with it, too.
; CHECK-LABEL: define i32 @guard
; CHECK: alloca [2 x i32]
; CHECK-NOT: simd.copies
define i32 @guard(i32 %lane, i32 %end, i32 %a) {
  %table = alloca [2 x i32]
  %in = icmp ult i32 %lane, 3
  br i1 %in, label %inside, label %out
inside:
  store i32 %a, ptr %table
  %at = getelementptr i32, ptr %table, i32 %lane
  %value = load i32, ptr %at
  br label %out
out:
  %result = phi i32 [ 0, %0 ], [ %value, %inside ]
  ret i32 %result
}
; Some lanes keep their first value.
; CHECK-LABEL: define i32 @some_lanes
; CHECK: alloca {{.*}} !simd.copies
define i32 @some_lanes(i32 %lane, i32 %a) {
  %table = alloca [2 x i32]
  store i32 0, ptr %table
  %in = icmp ult i32 %lane, 3
  br i1 %in, label %inside, label %out
inside:
  store i32 %a, ptr %table
  br label %out
out:
  %value = load i32, ptr %table
  ret i32 %value
}
; Lanes leave the loop in different iterations, so they keep what another iteration stored.
; CHECK-LABEL: define i32 @iterations
; CHECK: alloca {{.*}} !simd.copies
define i32 @iterations(i32 %lane) {
entry:
  %table = alloca [2 x i32]
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store i32 %i, ptr %table
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %lane
  br i1 %more, label %loop, label %out
out:
  %value = load i32, ptr %table
  ret i32 %value
}
; What comes from a variable with a copy for each lane differs.
; CHECK-LABEL: define i32 @from_another
; CHECK-COUNT-2: alloca {{.*}} !simd.copies
define i32 @from_another(i32 %lane) {
  %one = alloca [2 x i32]
  %other = alloca [2 x i32]
  %value = load i32, ptr %other
  store i32 %value, ptr %one
  store i32 %lane, ptr %other
  %result = load i32, ptr %one
  ret i32 %result
}
