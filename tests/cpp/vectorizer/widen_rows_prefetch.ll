; RUN: widen 4
; Lanes that read a cache line of each of their rows prefetch the line of the next gang's row, which is four rows further.
; CHECK-LABEL: define internal void @lines.wide
; CHECK: %[[AHEAD:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 16384
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[AHEAD]], i32 0, i32 2, i32 1)
; CHECK-COUNT-3: call void @llvm.prefetch.p1
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @lines(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 12
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; What is less than a line would be prefetched several times.
; CHECK-LABEL: define internal void @parts.wide
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @parts(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 12
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s7, ptr addrspace(1) %to, align 4
  ret void
}

; The rows of a gang that are near each other are prefetched for a gang some kilobytes ahead: the next one reads too soon.
; CHECK-LABEL: define internal void @near.wide
; CHECK: %[[LATER:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4096
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[LATER]], i32 0, i32 2, i32 1)
; CHECK-COUNT-3: call void @llvm.prefetch.p1
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @near(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 6
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; Rows of less than a line that adjoin share lines: 3 lines for 4 rows of 48 bytes, at 21 times the region.
; CHECK-LABEL: define internal void @adjoining.wide
; CHECK: %[[L0:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4032
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[L0]], i32 0, i32 2, i32 1)
; CHECK: %[[L1:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4048
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[L1]], i32 0, i32 2, i32 1)
; CHECK: %[[L2:.*]] = getelementptr i8, ptr addrspace(1) %{{.*}}, i64 4064
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %[[L2]], i32 0, i32 2, i32 1)
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @adjoining(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = mul i64 %index, 48
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s11, ptr addrspace(1) %to, align 4
  ret void
}

; The prefetch of a stream is dropped where lanes are far apart, so it does not keep rows from being prefetched.
; CHECK-LABEL: define internal void @stream.wide
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1)
; CHECK-COUNT-3: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1)
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @stream(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 12
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %ahead = getelementptr i8, ptr addrspace(1) %at0, i64 4096
  call void @llvm.prefetch.p1(ptr addrspace(1) %ahead, i32 0, i32 3, i32 1), !simd.stream !0
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; If the rows' distance is only known at run time, the code measures the region, and prefetches for a gang that is at least about 4096 bytes ahead.
; CHECK-LABEL: define internal void @measured.wide
; CHECK: %[[APART:.*]] = sub i64 %{{.*}}, %{{.*}}
; CHECK: mul i64 %[[APART]], 3
; CHECK: %[[REGION:.*]] = mul i64 %[[APART]], 4
; CHECK: %[[BYTES:.*]] = call i64 @llvm.abs.i64(i64 %[[REGION]], i1 false)
; CHECK: icmp eq i64
; CHECK: %[[SMALL:.*]] = icmp ule i64 %[[BYTES]], 32768
; CHECK: %[[ALIKE:.*]] = and i1 %{{.*}}, %[[SMALL]]
; CHECK: br i1 %[[ALIKE]]
; CHECK: %[[ZEROS:.*]] = call i64 @llvm.ctlz.i64(i64 %[[BYTES]], i1 false)
; CHECK: %[[TIMES:.*]] = call i64 @llvm.usub.sat.i64(i64 %[[ZEROS]], i64 51)
; CHECK: %[[AHEAD:.*]] = shl i64 %[[REGION]], %[[TIMES]]
; CHECK: getelementptr i8, ptr addrspace(1) %{{.*}}, i64 %[[AHEAD]]
; CHECK-COUNT-4: call void @llvm.prefetch.p1(ptr addrspace(1) %{{.*}}, i32 0, i32 2, i32 1)
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @measured(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %stride, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = mul i64 %index, %stride
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; A vector that all threadgroups read is not prefetched.
; CHECK-LABEL: define internal void @shared.wide
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @shared(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %index = zext i32 %x to i64
  %row = shl i64 %index, 6
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; The rows of a large region would not stay in the cache.
; CHECK-LABEL: define internal void @far.wide
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @far(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 14
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

; Code that has prefetches of its own, such as a slice, gets no others.
; CHECK-LABEL: define internal void @slice.wide
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void
define void @slice(ptr %group, ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x) {
  %position = getelementptr inbounds i8, ptr %group, i64 16
  %first = load i32, ptr %position, align 4
  %thread = add nuw i32 %first, %x
  %index = zext i32 %thread to i64
  %row = shl i64 %index, 12
  %at0 = getelementptr i8, ptr addrspace(1) %in, i64 %row
  call void @llvm.prefetch.p1(ptr addrspace(1) %at0, i32 0, i32 2, i32 1)
  %v0 = load float, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at0, i64 4
  %v1 = load float, ptr addrspace(1) %at1, align 4
  %s1 = fadd float %v0, %v1
  %at2 = getelementptr i8, ptr addrspace(1) %at0, i64 8
  %v2 = load float, ptr addrspace(1) %at2, align 4
  %s2 = fadd float %s1, %v2
  %at3 = getelementptr i8, ptr addrspace(1) %at0, i64 12
  %v3 = load float, ptr addrspace(1) %at3, align 4
  %s3 = fadd float %s2, %v3
  %at4 = getelementptr i8, ptr addrspace(1) %at0, i64 16
  %v4 = load float, ptr addrspace(1) %at4, align 4
  %s4 = fadd float %s3, %v4
  %at5 = getelementptr i8, ptr addrspace(1) %at0, i64 20
  %v5 = load float, ptr addrspace(1) %at5, align 4
  %s5 = fadd float %s4, %v5
  %at6 = getelementptr i8, ptr addrspace(1) %at0, i64 24
  %v6 = load float, ptr addrspace(1) %at6, align 4
  %s6 = fadd float %s5, %v6
  %at7 = getelementptr i8, ptr addrspace(1) %at0, i64 28
  %v7 = load float, ptr addrspace(1) %at7, align 4
  %s7 = fadd float %s6, %v7
  %at8 = getelementptr i8, ptr addrspace(1) %at0, i64 32
  %v8 = load float, ptr addrspace(1) %at8, align 4
  %s8 = fadd float %s7, %v8
  %at9 = getelementptr i8, ptr addrspace(1) %at0, i64 36
  %v9 = load float, ptr addrspace(1) %at9, align 4
  %s9 = fadd float %s8, %v9
  %at10 = getelementptr i8, ptr addrspace(1) %at0, i64 40
  %v10 = load float, ptr addrspace(1) %at10, align 4
  %s10 = fadd float %s9, %v10
  %at11 = getelementptr i8, ptr addrspace(1) %at0, i64 44
  %v11 = load float, ptr addrspace(1) %at11, align 4
  %s11 = fadd float %s10, %v11
  %at12 = getelementptr i8, ptr addrspace(1) %at0, i64 48
  %v12 = load float, ptr addrspace(1) %at12, align 4
  %s12 = fadd float %s11, %v12
  %at13 = getelementptr i8, ptr addrspace(1) %at0, i64 52
  %v13 = load float, ptr addrspace(1) %at13, align 4
  %s13 = fadd float %s12, %v13
  %at14 = getelementptr i8, ptr addrspace(1) %at0, i64 56
  %v14 = load float, ptr addrspace(1) %at14, align 4
  %s14 = fadd float %s13, %v14
  %at15 = getelementptr i8, ptr addrspace(1) %at0, i64 60
  %v15 = load float, ptr addrspace(1) %at15, align 4
  %s15 = fadd float %s14, %v15
  %to = getelementptr float, ptr addrspace(1) %out, i64 %index
  store float %s15, ptr addrspace(1) %to, align 4
  ret void
}

declare void @llvm.prefetch.p1(ptr addrspace(1), i32, i32, i32)

!0 = !{}
