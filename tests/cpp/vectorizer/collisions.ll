; RUN: collisions 4
; A test for another lane's store reads the memory again, unless all lanes store at different places.
declare i1 @check.collides(ptr, i64) memory(read)
; CHECK-LABEL: define void @different
; CHECK: store i1 false, ptr addrspace(1) %out
define void @different(ptr %stamps, ptr addrspace(1) %out, i64 %mine, i64 %lane) {
  %place = getelementptr i64, ptr %stamps, i64 %lane
  store i64 %mine, ptr %place
  %collides = call i1 @check.collides(ptr %place, i64 %mine)
  store i1 %collides, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define void @one
; CHECK: %[[NOW:.*]] = load i64, ptr %stamps
; CHECK: %[[OTHER:.*]] = icmp ne i64 %[[NOW]], %mine
; CHECK: store i1 %[[OTHER]], ptr addrspace(1) %out
define void @one(ptr %stamps, ptr addrspace(1) %out, i64 %mine, i64 %lane) {
  store i64 %mine, ptr %stamps
  %collides = call i1 @check.collides(ptr %stamps, i64 %mine)
  store i1 %collides, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define void @any
; CHECK: load i64, ptr %place
define void @any(ptr %stamps, ptr addrspace(1) %out, i64 %mine, i64 %vary) {
  %place = getelementptr i64, ptr %stamps, i64 %vary
  store i64 %mine, ptr %place
  %collides = call i1 @check.collides(ptr %place, i64 %mine)
  store i1 %collides, ptr addrspace(1) %out
  ret void
}
