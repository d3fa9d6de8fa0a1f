; RUN: order-for-registers 16 x86-64-v4
; The code of many rows reads what all rows need before it uses the first: that takes more registers than there are.
; Here, each row reads what it needs.
; CHECK-LABEL: define void @rows
; CHECK: load <16 x float>, ptr %p
; CHECK: fadd <16 x float> %s0,
; CHECK: load <16 x float>, ptr %p19
; CHECK: fadd <16 x float> %s19,
; CHECK: store <16 x float> %r0, ptr %q
define void @rows(ptr %p, ptr noalias %q, <16 x float> %s0, <16 x float> %s1, <16 x float> %s2, <16 x float> %s3, <16 x float> %s4, <16 x float> %s5, <16 x float> %s6, <16 x float> %s7, <16 x float> %s8, <16 x float> %s9, <16 x float> %s10, <16 x float> %s11, <16 x float> %s12, <16 x float> %s13, <16 x float> %s14, <16 x float> %s15, <16 x float> %s16, <16 x float> %s17, <16 x float> %s18, <16 x float> %s19) {
  %p0 = getelementptr i8, ptr %p, i64 0
  %v0 = load <16 x float>, ptr %p0
  %n0 = getelementptr i8, ptr %p, i64 64
  %w0 = load <16 x float>, ptr %n0
  %p1 = getelementptr i8, ptr %p, i64 128
  %v1 = load <16 x float>, ptr %p1
  %n1 = getelementptr i8, ptr %p, i64 192
  %w1 = load <16 x float>, ptr %n1
  %p2 = getelementptr i8, ptr %p, i64 256
  %v2 = load <16 x float>, ptr %p2
  %n2 = getelementptr i8, ptr %p, i64 320
  %w2 = load <16 x float>, ptr %n2
  %p3 = getelementptr i8, ptr %p, i64 384
  %v3 = load <16 x float>, ptr %p3
  %n3 = getelementptr i8, ptr %p, i64 448
  %w3 = load <16 x float>, ptr %n3
  %p4 = getelementptr i8, ptr %p, i64 512
  %v4 = load <16 x float>, ptr %p4
  %n4 = getelementptr i8, ptr %p, i64 576
  %w4 = load <16 x float>, ptr %n4
  %p5 = getelementptr i8, ptr %p, i64 640
  %v5 = load <16 x float>, ptr %p5
  %n5 = getelementptr i8, ptr %p, i64 704
  %w5 = load <16 x float>, ptr %n5
  %p6 = getelementptr i8, ptr %p, i64 768
  %v6 = load <16 x float>, ptr %p6
  %n6 = getelementptr i8, ptr %p, i64 832
  %w6 = load <16 x float>, ptr %n6
  %p7 = getelementptr i8, ptr %p, i64 896
  %v7 = load <16 x float>, ptr %p7
  %n7 = getelementptr i8, ptr %p, i64 960
  %w7 = load <16 x float>, ptr %n7
  %p8 = getelementptr i8, ptr %p, i64 1024
  %v8 = load <16 x float>, ptr %p8
  %n8 = getelementptr i8, ptr %p, i64 1088
  %w8 = load <16 x float>, ptr %n8
  %p9 = getelementptr i8, ptr %p, i64 1152
  %v9 = load <16 x float>, ptr %p9
  %n9 = getelementptr i8, ptr %p, i64 1216
  %w9 = load <16 x float>, ptr %n9
  %p10 = getelementptr i8, ptr %p, i64 1280
  %v10 = load <16 x float>, ptr %p10
  %n10 = getelementptr i8, ptr %p, i64 1344
  %w10 = load <16 x float>, ptr %n10
  %p11 = getelementptr i8, ptr %p, i64 1408
  %v11 = load <16 x float>, ptr %p11
  %n11 = getelementptr i8, ptr %p, i64 1472
  %w11 = load <16 x float>, ptr %n11
  %p12 = getelementptr i8, ptr %p, i64 1536
  %v12 = load <16 x float>, ptr %p12
  %n12 = getelementptr i8, ptr %p, i64 1600
  %w12 = load <16 x float>, ptr %n12
  %p13 = getelementptr i8, ptr %p, i64 1664
  %v13 = load <16 x float>, ptr %p13
  %n13 = getelementptr i8, ptr %p, i64 1728
  %w13 = load <16 x float>, ptr %n13
  %p14 = getelementptr i8, ptr %p, i64 1792
  %v14 = load <16 x float>, ptr %p14
  %n14 = getelementptr i8, ptr %p, i64 1856
  %w14 = load <16 x float>, ptr %n14
  %p15 = getelementptr i8, ptr %p, i64 1920
  %v15 = load <16 x float>, ptr %p15
  %n15 = getelementptr i8, ptr %p, i64 1984
  %w15 = load <16 x float>, ptr %n15
  %p16 = getelementptr i8, ptr %p, i64 2048
  %v16 = load <16 x float>, ptr %p16
  %n16 = getelementptr i8, ptr %p, i64 2112
  %w16 = load <16 x float>, ptr %n16
  %p17 = getelementptr i8, ptr %p, i64 2176
  %v17 = load <16 x float>, ptr %p17
  %n17 = getelementptr i8, ptr %p, i64 2240
  %w17 = load <16 x float>, ptr %n17
  %p18 = getelementptr i8, ptr %p, i64 2304
  %v18 = load <16 x float>, ptr %p18
  %n18 = getelementptr i8, ptr %p, i64 2368
  %w18 = load <16 x float>, ptr %n18
  %p19 = getelementptr i8, ptr %p, i64 2432
  %v19 = load <16 x float>, ptr %p19
  %n19 = getelementptr i8, ptr %p, i64 2496
  %w19 = load <16 x float>, ptr %n19
  %x0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x10 = shufflevector <16 x float> %v10, <16 x float> %w10, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x11 = shufflevector <16 x float> %v11, <16 x float> %w11, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x12 = shufflevector <16 x float> %v12, <16 x float> %w12, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x13 = shufflevector <16 x float> %v13, <16 x float> %w13, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x14 = shufflevector <16 x float> %v14, <16 x float> %w14, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x15 = shufflevector <16 x float> %v15, <16 x float> %w15, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x16 = shufflevector <16 x float> %v16, <16 x float> %w16, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x17 = shufflevector <16 x float> %v17, <16 x float> %w17, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x18 = shufflevector <16 x float> %v18, <16 x float> %w18, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x19 = shufflevector <16 x float> %v19, <16 x float> %w19, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %y0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y10 = shufflevector <16 x float> %v10, <16 x float> %w10, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y11 = shufflevector <16 x float> %v11, <16 x float> %w11, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y12 = shufflevector <16 x float> %v12, <16 x float> %w12, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y13 = shufflevector <16 x float> %v13, <16 x float> %w13, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y14 = shufflevector <16 x float> %v14, <16 x float> %w14, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y15 = shufflevector <16 x float> %v15, <16 x float> %w15, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y16 = shufflevector <16 x float> %v16, <16 x float> %w16, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y17 = shufflevector <16 x float> %v17, <16 x float> %w17, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y18 = shufflevector <16 x float> %v18, <16 x float> %w18, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y19 = shufflevector <16 x float> %v19, <16 x float> %w19, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %a0 = fmul <16 x float> %x0, %y0
  %a1 = fmul <16 x float> %x1, %y1
  %a2 = fmul <16 x float> %x2, %y2
  %a3 = fmul <16 x float> %x3, %y3
  %a4 = fmul <16 x float> %x4, %y4
  %a5 = fmul <16 x float> %x5, %y5
  %a6 = fmul <16 x float> %x6, %y6
  %a7 = fmul <16 x float> %x7, %y7
  %a8 = fmul <16 x float> %x8, %y8
  %a9 = fmul <16 x float> %x9, %y9
  %a10 = fmul <16 x float> %x10, %y10
  %a11 = fmul <16 x float> %x11, %y11
  %a12 = fmul <16 x float> %x12, %y12
  %a13 = fmul <16 x float> %x13, %y13
  %a14 = fmul <16 x float> %x14, %y14
  %a15 = fmul <16 x float> %x15, %y15
  %a16 = fmul <16 x float> %x16, %y16
  %a17 = fmul <16 x float> %x17, %y17
  %a18 = fmul <16 x float> %x18, %y18
  %a19 = fmul <16 x float> %x19, %y19
  %r0 = fadd <16 x float> %s0, %a0
  %r1 = fadd <16 x float> %s1, %a1
  %r2 = fadd <16 x float> %s2, %a2
  %r3 = fadd <16 x float> %s3, %a3
  %r4 = fadd <16 x float> %s4, %a4
  %r5 = fadd <16 x float> %s5, %a5
  %r6 = fadd <16 x float> %s6, %a6
  %r7 = fadd <16 x float> %s7, %a7
  %r8 = fadd <16 x float> %s8, %a8
  %r9 = fadd <16 x float> %s9, %a9
  %r10 = fadd <16 x float> %s10, %a10
  %r11 = fadd <16 x float> %s11, %a11
  %r12 = fadd <16 x float> %s12, %a12
  %r13 = fadd <16 x float> %s13, %a13
  %r14 = fadd <16 x float> %s14, %a14
  %r15 = fadd <16 x float> %s15, %a15
  %r16 = fadd <16 x float> %s16, %a16
  %r17 = fadd <16 x float> %s17, %a17
  %r18 = fadd <16 x float> %s18, %a18
  %r19 = fadd <16 x float> %s19, %a19
  %q0 = getelementptr i8, ptr %q, i64 0
  store <16 x float> %r0, ptr %q0
  %q1 = getelementptr i8, ptr %q, i64 64
  store <16 x float> %r1, ptr %q1
  %q2 = getelementptr i8, ptr %q, i64 128
  store <16 x float> %r2, ptr %q2
  %q3 = getelementptr i8, ptr %q, i64 192
  store <16 x float> %r3, ptr %q3
  %q4 = getelementptr i8, ptr %q, i64 256
  store <16 x float> %r4, ptr %q4
  %q5 = getelementptr i8, ptr %q, i64 320
  store <16 x float> %r5, ptr %q5
  %q6 = getelementptr i8, ptr %q, i64 384
  store <16 x float> %r6, ptr %q6
  %q7 = getelementptr i8, ptr %q, i64 448
  store <16 x float> %r7, ptr %q7
  %q8 = getelementptr i8, ptr %q, i64 512
  store <16 x float> %r8, ptr %q8
  %q9 = getelementptr i8, ptr %q, i64 576
  store <16 x float> %r9, ptr %q9
  %q10 = getelementptr i8, ptr %q, i64 640
  store <16 x float> %r10, ptr %q10
  %q11 = getelementptr i8, ptr %q, i64 704
  store <16 x float> %r11, ptr %q11
  %q12 = getelementptr i8, ptr %q, i64 768
  store <16 x float> %r12, ptr %q12
  %q13 = getelementptr i8, ptr %q, i64 832
  store <16 x float> %r13, ptr %q13
  %q14 = getelementptr i8, ptr %q, i64 896
  store <16 x float> %r14, ptr %q14
  %q15 = getelementptr i8, ptr %q, i64 960
  store <16 x float> %r15, ptr %q15
  %q16 = getelementptr i8, ptr %q, i64 1024
  store <16 x float> %r16, ptr %q16
  %q17 = getelementptr i8, ptr %q, i64 1088
  store <16 x float> %r17, ptr %q17
  %q18 = getelementptr i8, ptr %q, i64 1152
  store <16 x float> %r18, ptr %q18
  %q19 = getelementptr i8, ptr %q, i64 1216
  store <16 x float> %r19, ptr %q19
  ret void
}
; Reads stay in front of writes that follow them.
; CHECK-LABEL: define void @writes
; CHECK: load <16 x float>, ptr %p19
; CHECK: store i32 0, ptr %p
; CHECK: ret void
define void @writes(ptr %p, ptr noalias %q, <16 x float> %s0, <16 x float> %s1, <16 x float> %s2, <16 x float> %s3, <16 x float> %s4, <16 x float> %s5, <16 x float> %s6, <16 x float> %s7, <16 x float> %s8, <16 x float> %s9, <16 x float> %s10, <16 x float> %s11, <16 x float> %s12, <16 x float> %s13, <16 x float> %s14, <16 x float> %s15, <16 x float> %s16, <16 x float> %s17, <16 x float> %s18, <16 x float> %s19) {
  %p0 = getelementptr i8, ptr %p, i64 0
  %v0 = load <16 x float>, ptr %p0
  %n0 = getelementptr i8, ptr %p, i64 64
  %w0 = load <16 x float>, ptr %n0
  %p1 = getelementptr i8, ptr %p, i64 128
  %v1 = load <16 x float>, ptr %p1
  %n1 = getelementptr i8, ptr %p, i64 192
  %w1 = load <16 x float>, ptr %n1
  %p2 = getelementptr i8, ptr %p, i64 256
  %v2 = load <16 x float>, ptr %p2
  %n2 = getelementptr i8, ptr %p, i64 320
  %w2 = load <16 x float>, ptr %n2
  %p3 = getelementptr i8, ptr %p, i64 384
  %v3 = load <16 x float>, ptr %p3
  %n3 = getelementptr i8, ptr %p, i64 448
  %w3 = load <16 x float>, ptr %n3
  %p4 = getelementptr i8, ptr %p, i64 512
  %v4 = load <16 x float>, ptr %p4
  %n4 = getelementptr i8, ptr %p, i64 576
  %w4 = load <16 x float>, ptr %n4
  %p5 = getelementptr i8, ptr %p, i64 640
  %v5 = load <16 x float>, ptr %p5
  %n5 = getelementptr i8, ptr %p, i64 704
  %w5 = load <16 x float>, ptr %n5
  %p6 = getelementptr i8, ptr %p, i64 768
  %v6 = load <16 x float>, ptr %p6
  %n6 = getelementptr i8, ptr %p, i64 832
  %w6 = load <16 x float>, ptr %n6
  %p7 = getelementptr i8, ptr %p, i64 896
  %v7 = load <16 x float>, ptr %p7
  %n7 = getelementptr i8, ptr %p, i64 960
  %w7 = load <16 x float>, ptr %n7
  %p8 = getelementptr i8, ptr %p, i64 1024
  %v8 = load <16 x float>, ptr %p8
  %n8 = getelementptr i8, ptr %p, i64 1088
  %w8 = load <16 x float>, ptr %n8
  %p9 = getelementptr i8, ptr %p, i64 1152
  %v9 = load <16 x float>, ptr %p9
  %n9 = getelementptr i8, ptr %p, i64 1216
  %w9 = load <16 x float>, ptr %n9
  %p10 = getelementptr i8, ptr %p, i64 1280
  %v10 = load <16 x float>, ptr %p10
  %n10 = getelementptr i8, ptr %p, i64 1344
  %w10 = load <16 x float>, ptr %n10
  %p11 = getelementptr i8, ptr %p, i64 1408
  %v11 = load <16 x float>, ptr %p11
  %n11 = getelementptr i8, ptr %p, i64 1472
  %w11 = load <16 x float>, ptr %n11
  %p12 = getelementptr i8, ptr %p, i64 1536
  %v12 = load <16 x float>, ptr %p12
  %n12 = getelementptr i8, ptr %p, i64 1600
  %w12 = load <16 x float>, ptr %n12
  %p13 = getelementptr i8, ptr %p, i64 1664
  %v13 = load <16 x float>, ptr %p13
  %n13 = getelementptr i8, ptr %p, i64 1728
  %w13 = load <16 x float>, ptr %n13
  %p14 = getelementptr i8, ptr %p, i64 1792
  %v14 = load <16 x float>, ptr %p14
  %n14 = getelementptr i8, ptr %p, i64 1856
  %w14 = load <16 x float>, ptr %n14
  %p15 = getelementptr i8, ptr %p, i64 1920
  %v15 = load <16 x float>, ptr %p15
  %n15 = getelementptr i8, ptr %p, i64 1984
  %w15 = load <16 x float>, ptr %n15
  %p16 = getelementptr i8, ptr %p, i64 2048
  %v16 = load <16 x float>, ptr %p16
  %n16 = getelementptr i8, ptr %p, i64 2112
  %w16 = load <16 x float>, ptr %n16
  %p17 = getelementptr i8, ptr %p, i64 2176
  %v17 = load <16 x float>, ptr %p17
  %n17 = getelementptr i8, ptr %p, i64 2240
  %w17 = load <16 x float>, ptr %n17
  %p18 = getelementptr i8, ptr %p, i64 2304
  %v18 = load <16 x float>, ptr %p18
  %n18 = getelementptr i8, ptr %p, i64 2368
  %w18 = load <16 x float>, ptr %n18
  %p19 = getelementptr i8, ptr %p, i64 2432
  %v19 = load <16 x float>, ptr %p19
  %n19 = getelementptr i8, ptr %p, i64 2496
  %w19 = load <16 x float>, ptr %n19
  store i32 0, ptr %p
  %x0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x10 = shufflevector <16 x float> %v10, <16 x float> %w10, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x11 = shufflevector <16 x float> %v11, <16 x float> %w11, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x12 = shufflevector <16 x float> %v12, <16 x float> %w12, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x13 = shufflevector <16 x float> %v13, <16 x float> %w13, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x14 = shufflevector <16 x float> %v14, <16 x float> %w14, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x15 = shufflevector <16 x float> %v15, <16 x float> %w15, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x16 = shufflevector <16 x float> %v16, <16 x float> %w16, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x17 = shufflevector <16 x float> %v17, <16 x float> %w17, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x18 = shufflevector <16 x float> %v18, <16 x float> %w18, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x19 = shufflevector <16 x float> %v19, <16 x float> %w19, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %y0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y10 = shufflevector <16 x float> %v10, <16 x float> %w10, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y11 = shufflevector <16 x float> %v11, <16 x float> %w11, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y12 = shufflevector <16 x float> %v12, <16 x float> %w12, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y13 = shufflevector <16 x float> %v13, <16 x float> %w13, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y14 = shufflevector <16 x float> %v14, <16 x float> %w14, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y15 = shufflevector <16 x float> %v15, <16 x float> %w15, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y16 = shufflevector <16 x float> %v16, <16 x float> %w16, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y17 = shufflevector <16 x float> %v17, <16 x float> %w17, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y18 = shufflevector <16 x float> %v18, <16 x float> %w18, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y19 = shufflevector <16 x float> %v19, <16 x float> %w19, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %a0 = fmul <16 x float> %x0, %y0
  %a1 = fmul <16 x float> %x1, %y1
  %a2 = fmul <16 x float> %x2, %y2
  %a3 = fmul <16 x float> %x3, %y3
  %a4 = fmul <16 x float> %x4, %y4
  %a5 = fmul <16 x float> %x5, %y5
  %a6 = fmul <16 x float> %x6, %y6
  %a7 = fmul <16 x float> %x7, %y7
  %a8 = fmul <16 x float> %x8, %y8
  %a9 = fmul <16 x float> %x9, %y9
  %a10 = fmul <16 x float> %x10, %y10
  %a11 = fmul <16 x float> %x11, %y11
  %a12 = fmul <16 x float> %x12, %y12
  %a13 = fmul <16 x float> %x13, %y13
  %a14 = fmul <16 x float> %x14, %y14
  %a15 = fmul <16 x float> %x15, %y15
  %a16 = fmul <16 x float> %x16, %y16
  %a17 = fmul <16 x float> %x17, %y17
  %a18 = fmul <16 x float> %x18, %y18
  %a19 = fmul <16 x float> %x19, %y19
  %r0 = fadd <16 x float> %s0, %a0
  %r1 = fadd <16 x float> %s1, %a1
  %r2 = fadd <16 x float> %s2, %a2
  %r3 = fadd <16 x float> %s3, %a3
  %r4 = fadd <16 x float> %s4, %a4
  %r5 = fadd <16 x float> %s5, %a5
  %r6 = fadd <16 x float> %s6, %a6
  %r7 = fadd <16 x float> %s7, %a7
  %r8 = fadd <16 x float> %s8, %a8
  %r9 = fadd <16 x float> %s9, %a9
  %r10 = fadd <16 x float> %s10, %a10
  %r11 = fadd <16 x float> %s11, %a11
  %r12 = fadd <16 x float> %s12, %a12
  %r13 = fadd <16 x float> %s13, %a13
  %r14 = fadd <16 x float> %s14, %a14
  %r15 = fadd <16 x float> %s15, %a15
  %r16 = fadd <16 x float> %s16, %a16
  %r17 = fadd <16 x float> %s17, %a17
  %r18 = fadd <16 x float> %s18, %a18
  %r19 = fadd <16 x float> %s19, %a19
  %q0 = getelementptr i8, ptr %q, i64 0
  store <16 x float> %r0, ptr %q0
  %q1 = getelementptr i8, ptr %q, i64 64
  store <16 x float> %r1, ptr %q1
  %q2 = getelementptr i8, ptr %q, i64 128
  store <16 x float> %r2, ptr %q2
  %q3 = getelementptr i8, ptr %q, i64 192
  store <16 x float> %r3, ptr %q3
  %q4 = getelementptr i8, ptr %q, i64 256
  store <16 x float> %r4, ptr %q4
  %q5 = getelementptr i8, ptr %q, i64 320
  store <16 x float> %r5, ptr %q5
  %q6 = getelementptr i8, ptr %q, i64 384
  store <16 x float> %r6, ptr %q6
  %q7 = getelementptr i8, ptr %q, i64 448
  store <16 x float> %r7, ptr %q7
  %q8 = getelementptr i8, ptr %q, i64 512
  store <16 x float> %r8, ptr %q8
  %q9 = getelementptr i8, ptr %q, i64 576
  store <16 x float> %r9, ptr %q9
  %q10 = getelementptr i8, ptr %q, i64 640
  store <16 x float> %r10, ptr %q10
  %q11 = getelementptr i8, ptr %q, i64 704
  store <16 x float> %r11, ptr %q11
  %q12 = getelementptr i8, ptr %q, i64 768
  store <16 x float> %r12, ptr %q12
  %q13 = getelementptr i8, ptr %q, i64 832
  store <16 x float> %r13, ptr %q13
  %q14 = getelementptr i8, ptr %q, i64 896
  store <16 x float> %r14, ptr %q14
  %q15 = getelementptr i8, ptr %q, i64 960
  store <16 x float> %r15, ptr %q15
  %q16 = getelementptr i8, ptr %q, i64 1024
  store <16 x float> %r16, ptr %q16
  %q17 = getelementptr i8, ptr %q, i64 1088
  store <16 x float> %r17, ptr %q17
  %q18 = getelementptr i8, ptr %q, i64 1152
  store <16 x float> %r18, ptr %q18
  %q19 = getelementptr i8, ptr %q, i64 1216
  store <16 x float> %r19, ptr %q19
  ret void
}
; Operations on vectors of two registers are split, and the first registers of rows are computed before the second ones
; are read.
; CHECK-LABEL: define void @pieces
; CHECK: load <16 x float>, ptr %p
; CHECK: %[[SUM:.*]] = fadd nsz <16 x float>
; CHECK: load <16 x float>, ptr %n9
; CHECK: fadd nsz <16 x float>
; CHECK: %[[WHOLE:.*]] = shufflevector <16 x float> %[[SUM]], <16 x float> %{{.*}}, <32 x i32>
; CHECK: store <32 x float> %[[WHOLE]], ptr %q0
define void @pieces(ptr %p, ptr %q, <32 x float> %s0, <32 x float> %s1, <32 x float> %s2, <32 x float> %s3, <32 x float> %s4, <32 x float> %s5, <32 x float> %s6, <32 x float> %s7, <32 x float> %s8, <32 x float> %s9) {
  %p0 = getelementptr i8, ptr %p, i64 0
  %v0 = load <16 x float>, ptr %p0
  %w0.at = getelementptr i8, ptr %p0, i64 64
  %w0 = load <16 x float>, ptr %w0.at
  %n0 = getelementptr i8, ptr %p, i64 128
  %a0 = load <16 x float>, ptr %n0
  %b0.at = getelementptr i8, ptr %n0, i64 64
  %b0 = load <16 x float>, ptr %b0.at
  %p1 = getelementptr i8, ptr %p, i64 256
  %v1 = load <16 x float>, ptr %p1
  %w1.at = getelementptr i8, ptr %p1, i64 64
  %w1 = load <16 x float>, ptr %w1.at
  %n1 = getelementptr i8, ptr %p, i64 384
  %a1 = load <16 x float>, ptr %n1
  %b1.at = getelementptr i8, ptr %n1, i64 64
  %b1 = load <16 x float>, ptr %b1.at
  %p2 = getelementptr i8, ptr %p, i64 512
  %v2 = load <16 x float>, ptr %p2
  %w2.at = getelementptr i8, ptr %p2, i64 64
  %w2 = load <16 x float>, ptr %w2.at
  %n2 = getelementptr i8, ptr %p, i64 640
  %a2 = load <16 x float>, ptr %n2
  %b2.at = getelementptr i8, ptr %n2, i64 64
  %b2 = load <16 x float>, ptr %b2.at
  %p3 = getelementptr i8, ptr %p, i64 768
  %v3 = load <16 x float>, ptr %p3
  %w3.at = getelementptr i8, ptr %p3, i64 64
  %w3 = load <16 x float>, ptr %w3.at
  %n3 = getelementptr i8, ptr %p, i64 896
  %a3 = load <16 x float>, ptr %n3
  %b3.at = getelementptr i8, ptr %n3, i64 64
  %b3 = load <16 x float>, ptr %b3.at
  %p4 = getelementptr i8, ptr %p, i64 1024
  %v4 = load <16 x float>, ptr %p4
  %w4.at = getelementptr i8, ptr %p4, i64 64
  %w4 = load <16 x float>, ptr %w4.at
  %n4 = getelementptr i8, ptr %p, i64 1152
  %a4 = load <16 x float>, ptr %n4
  %b4.at = getelementptr i8, ptr %n4, i64 64
  %b4 = load <16 x float>, ptr %b4.at
  %p5 = getelementptr i8, ptr %p, i64 1280
  %v5 = load <16 x float>, ptr %p5
  %w5.at = getelementptr i8, ptr %p5, i64 64
  %w5 = load <16 x float>, ptr %w5.at
  %n5 = getelementptr i8, ptr %p, i64 1408
  %a5 = load <16 x float>, ptr %n5
  %b5.at = getelementptr i8, ptr %n5, i64 64
  %b5 = load <16 x float>, ptr %b5.at
  %p6 = getelementptr i8, ptr %p, i64 1536
  %v6 = load <16 x float>, ptr %p6
  %w6.at = getelementptr i8, ptr %p6, i64 64
  %w6 = load <16 x float>, ptr %w6.at
  %n6 = getelementptr i8, ptr %p, i64 1664
  %a6 = load <16 x float>, ptr %n6
  %b6.at = getelementptr i8, ptr %n6, i64 64
  %b6 = load <16 x float>, ptr %b6.at
  %p7 = getelementptr i8, ptr %p, i64 1792
  %v7 = load <16 x float>, ptr %p7
  %w7.at = getelementptr i8, ptr %p7, i64 64
  %w7 = load <16 x float>, ptr %w7.at
  %n7 = getelementptr i8, ptr %p, i64 1920
  %a7 = load <16 x float>, ptr %n7
  %b7.at = getelementptr i8, ptr %n7, i64 64
  %b7 = load <16 x float>, ptr %b7.at
  %p8 = getelementptr i8, ptr %p, i64 2048
  %v8 = load <16 x float>, ptr %p8
  %w8.at = getelementptr i8, ptr %p8, i64 64
  %w8 = load <16 x float>, ptr %w8.at
  %n8 = getelementptr i8, ptr %p, i64 2176
  %a8 = load <16 x float>, ptr %n8
  %b8.at = getelementptr i8, ptr %n8, i64 64
  %b8 = load <16 x float>, ptr %b8.at
  %p9 = getelementptr i8, ptr %p, i64 2304
  %v9 = load <16 x float>, ptr %p9
  %w9.at = getelementptr i8, ptr %p9, i64 64
  %w9 = load <16 x float>, ptr %w9.at
  %n9 = getelementptr i8, ptr %p, i64 2432
  %a9 = load <16 x float>, ptr %n9
  %b9.at = getelementptr i8, ptr %n9, i64 64
  %b9 = load <16 x float>, ptr %b9.at
  %e0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f0 = shufflevector <16 x float> %a0, <16 x float> %b0, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x0 = shufflevector <16 x float> %e0, <16 x float> %f0, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f1 = shufflevector <16 x float> %a1, <16 x float> %b1, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x1 = shufflevector <16 x float> %e1, <16 x float> %f1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f2 = shufflevector <16 x float> %a2, <16 x float> %b2, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x2 = shufflevector <16 x float> %e2, <16 x float> %f2, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f3 = shufflevector <16 x float> %a3, <16 x float> %b3, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x3 = shufflevector <16 x float> %e3, <16 x float> %f3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f4 = shufflevector <16 x float> %a4, <16 x float> %b4, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x4 = shufflevector <16 x float> %e4, <16 x float> %f4, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f5 = shufflevector <16 x float> %a5, <16 x float> %b5, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x5 = shufflevector <16 x float> %e5, <16 x float> %f5, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f6 = shufflevector <16 x float> %a6, <16 x float> %b6, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x6 = shufflevector <16 x float> %e6, <16 x float> %f6, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f7 = shufflevector <16 x float> %a7, <16 x float> %b7, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x7 = shufflevector <16 x float> %e7, <16 x float> %f7, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f8 = shufflevector <16 x float> %a8, <16 x float> %b8, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x8 = shufflevector <16 x float> %e8, <16 x float> %f8, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %f9 = shufflevector <16 x float> %a9, <16 x float> %b9, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %x9 = shufflevector <16 x float> %e9, <16 x float> %f9, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g0 = shufflevector <16 x float> %v0, <16 x float> %w0, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h0 = shufflevector <16 x float> %a0, <16 x float> %b0, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y0 = shufflevector <16 x float> %g0, <16 x float> %h0, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g1 = shufflevector <16 x float> %v1, <16 x float> %w1, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h1 = shufflevector <16 x float> %a1, <16 x float> %b1, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y1 = shufflevector <16 x float> %g1, <16 x float> %h1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g2 = shufflevector <16 x float> %v2, <16 x float> %w2, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h2 = shufflevector <16 x float> %a2, <16 x float> %b2, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y2 = shufflevector <16 x float> %g2, <16 x float> %h2, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g3 = shufflevector <16 x float> %v3, <16 x float> %w3, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h3 = shufflevector <16 x float> %a3, <16 x float> %b3, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y3 = shufflevector <16 x float> %g3, <16 x float> %h3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g4 = shufflevector <16 x float> %v4, <16 x float> %w4, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h4 = shufflevector <16 x float> %a4, <16 x float> %b4, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y4 = shufflevector <16 x float> %g4, <16 x float> %h4, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g5 = shufflevector <16 x float> %v5, <16 x float> %w5, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h5 = shufflevector <16 x float> %a5, <16 x float> %b5, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y5 = shufflevector <16 x float> %g5, <16 x float> %h5, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g6 = shufflevector <16 x float> %v6, <16 x float> %w6, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h6 = shufflevector <16 x float> %a6, <16 x float> %b6, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y6 = shufflevector <16 x float> %g6, <16 x float> %h6, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g7 = shufflevector <16 x float> %v7, <16 x float> %w7, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h7 = shufflevector <16 x float> %a7, <16 x float> %b7, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y7 = shufflevector <16 x float> %g7, <16 x float> %h7, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g8 = shufflevector <16 x float> %v8, <16 x float> %w8, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h8 = shufflevector <16 x float> %a8, <16 x float> %b8, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y8 = shufflevector <16 x float> %g8, <16 x float> %h8, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %g9 = shufflevector <16 x float> %v9, <16 x float> %w9, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %h9 = shufflevector <16 x float> %a9, <16 x float> %b9, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %y9 = shufflevector <16 x float> %g9, <16 x float> %h9, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %m0 = fmul <32 x float> %x0, %y0
  %m1 = fmul <32 x float> %x1, %y1
  %m2 = fmul <32 x float> %x2, %y2
  %m3 = fmul <32 x float> %x3, %y3
  %m4 = fmul <32 x float> %x4, %y4
  %m5 = fmul <32 x float> %x5, %y5
  %m6 = fmul <32 x float> %x6, %y6
  %m7 = fmul <32 x float> %x7, %y7
  %m8 = fmul <32 x float> %x8, %y8
  %m9 = fmul <32 x float> %x9, %y9
  %r0 = fadd nsz <32 x float> %s0, %m0
  %r1 = fadd nsz <32 x float> %s1, %m1
  %r2 = fadd nsz <32 x float> %s2, %m2
  %r3 = fadd nsz <32 x float> %s3, %m3
  %r4 = fadd nsz <32 x float> %s4, %m4
  %r5 = fadd nsz <32 x float> %s5, %m5
  %r6 = fadd nsz <32 x float> %s6, %m6
  %r7 = fadd nsz <32 x float> %s7, %m7
  %r8 = fadd nsz <32 x float> %s8, %m8
  %r9 = fadd nsz <32 x float> %s9, %m9
  %q0 = getelementptr i8, ptr %q, i64 0
  store <32 x float> %r0, ptr %q0
  %q1 = getelementptr i8, ptr %q, i64 128
  store <32 x float> %r1, ptr %q1
  %q2 = getelementptr i8, ptr %q, i64 256
  store <32 x float> %r2, ptr %q2
  %q3 = getelementptr i8, ptr %q, i64 384
  store <32 x float> %r3, ptr %q3
  %q4 = getelementptr i8, ptr %q, i64 512
  store <32 x float> %r4, ptr %q4
  %q5 = getelementptr i8, ptr %q, i64 640
  store <32 x float> %r5, ptr %q5
  %q6 = getelementptr i8, ptr %q, i64 768
  store <32 x float> %r6, ptr %q6
  %q7 = getelementptr i8, ptr %q, i64 896
  store <32 x float> %r7, ptr %q7
  %q8 = getelementptr i8, ptr %q, i64 1024
  store <32 x float> %r8, ptr %q8
  %q9 = getelementptr i8, ptr %q, i64 1152
  store <32 x float> %r9, ptr %q9
  ret void
}
