; RUN: shapes 4
; A switch of many ways in a divergent branch: the ways join with the other path of the branch only, as the switch is
; uniform.
; CHECK: entry: divergent
; CHECK: %inner: uniform
; CHECK: %outer: varying
define void @kernel(i32 %x, i32 %same) {
entry:
  %part = icmp ult i32 %x, 2
  br i1 %part, label %choose, label %done
choose:
  switch i32 %same, label %join [
    i32 0, label %way0
    i32 1, label %way1
    i32 2, label %way2
    i32 3, label %way3
    i32 4, label %way4
    i32 5, label %way5
    i32 6, label %way6
    i32 7, label %way7
    i32 8, label %way8
    i32 9, label %way9
    i32 10, label %way10
    i32 11, label %way11
    i32 12, label %way12
    i32 13, label %way13
    i32 14, label %way14
    i32 15, label %way15
    i32 16, label %way16
    i32 17, label %way17
    i32 18, label %way18
    i32 19, label %way19
    i32 20, label %way20
    i32 21, label %way21
    i32 22, label %way22
    i32 23, label %way23
    i32 24, label %way24
    i32 25, label %way25
    i32 26, label %way26
    i32 27, label %way27
    i32 28, label %way28
    i32 29, label %way29
    i32 30, label %way30
    i32 31, label %way31
    i32 32, label %way32
    i32 33, label %way33
    i32 34, label %way34
    i32 35, label %way35
    i32 36, label %way36
    i32 37, label %way37
    i32 38, label %way38
    i32 39, label %way39
    i32 40, label %way40
    i32 41, label %way41
    i32 42, label %way42
    i32 43, label %way43
    i32 44, label %way44
    i32 45, label %way45
    i32 46, label %way46
    i32 47, label %way47
    i32 48, label %way48
    i32 49, label %way49
    i32 50, label %way50
    i32 51, label %way51
    i32 52, label %way52
    i32 53, label %way53
    i32 54, label %way54
    i32 55, label %way55
    i32 56, label %way56
    i32 57, label %way57
    i32 58, label %way58
    i32 59, label %way59
  ]
way0:
  br label %join
way1:
  br label %join
way2:
  br label %join
way3:
  br label %join
way4:
  br label %join
way5:
  br label %join
way6:
  br label %join
way7:
  br label %join
way8:
  br label %join
way9:
  br label %join
way10:
  br label %join
way11:
  br label %join
way12:
  br label %join
way13:
  br label %join
way14:
  br label %join
way15:
  br label %join
way16:
  br label %join
way17:
  br label %join
way18:
  br label %join
way19:
  br label %join
way20:
  br label %join
way21:
  br label %join
way22:
  br label %join
way23:
  br label %join
way24:
  br label %join
way25:
  br label %join
way26:
  br label %join
way27:
  br label %join
way28:
  br label %join
way29:
  br label %join
way30:
  br label %join
way31:
  br label %join
way32:
  br label %join
way33:
  br label %join
way34:
  br label %join
way35:
  br label %join
way36:
  br label %join
way37:
  br label %join
way38:
  br label %join
way39:
  br label %join
way40:
  br label %join
way41:
  br label %join
way42:
  br label %join
way43:
  br label %join
way44:
  br label %join
way45:
  br label %join
way46:
  br label %join
way47:
  br label %join
way48:
  br label %join
way49:
  br label %join
way50:
  br label %join
way51:
  br label %join
way52:
  br label %join
way53:
  br label %join
way54:
  br label %join
way55:
  br label %join
way56:
  br label %join
way57:
  br label %join
way58:
  br label %join
way59:
  br label %join
join:
  %inner = phi i32 [ 100, %choose ], [ 0, %way0 ], [ 1, %way1 ], [ 2, %way2 ], [ 3, %way3 ], [ 4, %way4 ], [ 5, %way5 ], [ 6, %way6 ], [ 7, %way7 ], [ 8, %way8 ], [ 9, %way9 ], [ 10, %way10 ], [ 11, %way11 ], [ 12, %way12 ], [ 13, %way13 ], [ 14, %way14 ], [ 15, %way15 ], [ 16, %way16 ], [ 17, %way17 ], [ 18, %way18 ], [ 19, %way19 ], [ 20, %way20 ], [ 21, %way21 ], [ 22, %way22 ], [ 23, %way23 ], [ 24, %way24 ], [ 25, %way25 ], [ 26, %way26 ], [ 27, %way27 ], [ 28, %way28 ], [ 29, %way29 ], [ 30, %way30 ], [ 31, %way31 ], [ 32, %way32 ], [ 33, %way33 ], [ 34, %way34 ], [ 35, %way35 ], [ 36, %way36 ], [ 37, %way37 ], [ 38, %way38 ], [ 39, %way39 ], [ 40, %way40 ], [ 41, %way41 ], [ 42, %way42 ], [ 43, %way43 ], [ 44, %way44 ], [ 45, %way45 ], [ 46, %way46 ], [ 47, %way47 ], [ 48, %way48 ], [ 49, %way49 ], [ 50, %way50 ], [ 51, %way51 ], [ 52, %way52 ], [ 53, %way53 ], [ 54, %way54 ], [ 55, %way55 ], [ 56, %way56 ], [ 57, %way57 ], [ 58, %way58 ], [ 59, %way59 ]
  br label %done
done:
  %outer = phi i32 [ 0, %entry ], [ %inner, %join ]
  ret void
}
