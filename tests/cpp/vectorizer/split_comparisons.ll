; RUN: split-comparisons
; What LLVM compares at once is compared alone: the lanes may share one of the integers.
; CHECK-LABEL: define i1 @below
; CHECK-NEXT: %[[ROW:.*]] = icmp ult i32 %row, 2048
; CHECK-NEXT: %[[COLUMN:.*]] = icmp ult i32 %column, 2048
; CHECK-NEXT: %inside = and i1 %[[ROW]], %[[COLUMN]]
; CHECK-NEXT: ret i1 %inside
define i1 @below(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %inside = icmp ult i32 %both, 2048
  ret i1 %inside
}
; CHECK-LABEL: define i1 @above
; CHECK-NEXT: %[[ROW:.*]] = icmp ugt i32 %row, 2047
; CHECK-NEXT: %[[COLUMN:.*]] = icmp ugt i32 %column, 2047
; CHECK-NEXT: %outside = or i1 %[[ROW]], %[[COLUMN]]
define i1 @above(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %outside = icmp ugt i32 %both, 2047
  ret i1 %outside
}
; CHECK-LABEL: define i1 @positive
; CHECK-NEXT: %[[LAYER:.*]] = icmp sgt i32 %layer, -1
; CHECK-NEXT: %[[ROW:.*]] = icmp sgt i32 %row, -1
; CHECK-NEXT: %[[TWO:.*]] = and i1 %[[LAYER]], %[[ROW]]
; CHECK-NEXT: %[[COLUMN:.*]] = icmp sgt i32 %column, -1
; CHECK-NEXT: %inside = and i1 %[[TWO]], %[[COLUMN]]
define i1 @positive(i32 %layer, i32 %row, i32 %column) {
  %two = or i32 %layer, %row
  %three = or i32 %two, %column
  %inside = icmp sgt i32 %three, -1
  ret i1 %inside
}
; CHECK-LABEL: define i1 @negative
; CHECK-NEXT: %[[ROW:.*]] = icmp slt i32 %row, 0
; CHECK-NEXT: %[[COLUMN:.*]] = icmp slt i32 %column, 0
; CHECK-NEXT: %outside = or i1 %[[ROW]], %[[COLUMN]]
define i1 @negative(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %outside = icmp slt i32 %both, 0
  ret i1 %outside
}
; Both may be smaller than another number, and their or not, and other uses need the or.
; CHECK-LABEL: define i1 @other_number
; CHECK-NEXT: or i32
; CHECK-NEXT: icmp ult i32 %both, 2000
define i1 @other_number(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %inside = icmp ult i32 %both, 2000
  ret i1 %inside
}
; CHECK-LABEL: define i1 @signed_number
; CHECK-NEXT: or i32
; CHECK-NEXT: icmp slt i32 %both, 2048
define i1 @signed_number(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %inside = icmp slt i32 %both, 2048
  ret i1 %inside
}
; CHECK-LABEL: define i32 @used
; CHECK-NEXT: or i32
; CHECK-NEXT: icmp ult i32 %both, 2048
define i32 @used(i32 %row, i32 %column) {
  %both = or i32 %row, %column
  %inside = icmp ult i32 %both, 2048
  %result = select i1 %inside, i32 %both, i32 0
  ret i32 %result
}
