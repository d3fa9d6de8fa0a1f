; RUN: jam-gangs-of-row 8
; Each gang reads beside the one before, and its own reads are far apart. Eight gangs at once read on, and their sums
; stay in registers.
; CHECK-LABEL: define void @reads_on(
; CHECK-COUNT-8: load <8 x float>
; CHECK-COUNT-8: fadd <8 x float>
; CHECK-COUNT-8: load <8 x float>
; CHECK-COUNT-8: fadd <8 x float>
; A barrier is one for all gangs.
; CHECK: call void @simd.barrier()
; CHECK-NOT: call void @simd.barrier()
; CHECK-COUNT-8: store <8 x float>
; CHECK-NOT: store
; CHECK: ret void
declare void @simd.barrier()
define void @reads_on(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %frozen = freeze i32 %x
  %place = zext i32 %frozen to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %place
  %first = load <8 x float>, ptr addrspace(1) %at, align 4
  %sum = fadd <8 x float> %first, splat (float 1.0)
  %behind = getelementptr i8, ptr addrspace(1) %at, i64 1024
  %second = load <8 x float>, ptr addrspace(1) %behind, align 4
  %more = fadd <8 x float> %sum, %second
  call void @simd.barrier()
  %to = getelementptr float, ptr %group, i32 %x
  store <8 x float> %more, ptr %to
  ret void
}

; The registers hold the vectors of two gangs that keep four each.
; CHECK-LABEL: define void @keeps(
; CHECK-COUNT-2: load <8 x float>
; CHECK-COUNT-2: load <8 x float>
; CHECK-COUNT-2: load <8 x float>
; CHECK-COUNT-2: load <8 x float>
; CHECK-NOT: load <8 x float>
; CHECK: ret void
define void @keeps(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %place = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %place
  %a = load <8 x float>, ptr addrspace(1) %at, align 4
  %b.at = getelementptr i8, ptr addrspace(1) %at, i64 1024
  %b = load <8 x float>, ptr addrspace(1) %b.at, align 4
  %c.at = getelementptr i8, ptr addrspace(1) %at, i64 2048
  %c = load <8 x float>, ptr addrspace(1) %c.at, align 4
  %d.at = getelementptr i8, ptr addrspace(1) %at, i64 3072
  %d = load <8 x float>, ptr addrspace(1) %d.at, align 4
  %ab = fadd <8 x float> %a, %b
  %abc = fadd <8 x float> %ab, %c
  %sum = fadd <8 x float> %abc, %d
  call void @simd.barrier()
  %to = getelementptr float, ptr %group, i32 %x
  %to.b = getelementptr i8, ptr %to, i64 1024
  %to.c = getelementptr i8, ptr %to, i64 2048
  %to.d = getelementptr i8, ptr %to, i64 3072
  %to.sum = getelementptr i8, ptr %to, i64 4096
  store <8 x float> %a, ptr %to
  store <8 x float> %b, ptr %to.b
  store <8 x float> %c, ptr %to.c
  store <8 x float> %d, ptr %to.d
  store <8 x float> %sum, ptr %to.sum
  ret void
}

; Processors follow reads that are near each other.
; CHECK-LABEL: define void @near(
; CHECK-COUNT-2: load <8 x float>
; CHECK-NOT: load <8 x float>
; CHECK: ret void
define void @near(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %place = zext i32 %x to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %place
  %first = load <8 x float>, ptr addrspace(1) %at, align 4
  %behind = getelementptr i8, ptr addrspace(1) %at, i64 256
  %second = load <8 x float>, ptr addrspace(1) %behind, align 4
  %sum = fadd <8 x float> %first, %second
  call void @simd.barrier()
  %to = getelementptr float, ptr %group, i32 %x
  store <8 x float> %sum, ptr %to
  ret void
}

; Nor does it pay if gangs read far from each other.
; CHECK-LABEL: define void @rows(
; CHECK-COUNT-2: load <8 x float>
; CHECK-NOT: load <8 x float>
; CHECK: ret void
define void @rows(ptr %group, i32 %x, i32 %y, i32 %z, i32 %index, i32 %lane, i1 %active) {
  %in = addrspacecast ptr %group to ptr addrspace(1)
  %row = mul i32 %x, 512
  %place = zext i32 %row to i64
  %at = getelementptr float, ptr addrspace(1) %in, i64 %place
  %first = load <8 x float>, ptr addrspace(1) %at, align 4
  %behind = getelementptr i8, ptr addrspace(1) %at, i64 1024
  %second = load <8 x float>, ptr addrspace(1) %behind, align 4
  %sum = fadd <8 x float> %first, %second
  call void @simd.barrier()
  %to = getelementptr float, ptr %group, i32 %x
  store <8 x float> %sum, ptr %to
  ret void
}
