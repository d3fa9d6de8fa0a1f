; RUN: assume-inside
; No gang could bail out after effects, before a size is known.
; CHECK-NOT: simd.inside
; CHECK-NOT: .1(
define void @late_size(ptr addrspace(1) %out, ptr addrspace(1) %sizes, i32 %x) {
entry:
  store i32 0, ptr addrspace(1) %sizes
  %size = load i32, ptr addrspace(1) %sizes
  %first = shl i32 %x, 3
  %inside = icmp ult i32 %first, %size
  br i1 %inside, label %store, label %done
store:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
; Neighbours need no more than a mask.
define void @neighbours(ptr addrspace(1) %out, i32 %x, i32 %size) {
entry:
  %inside = icmp ult i32 %x, %size
  br i1 %inside, label %store, label %done
store:
  %at = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
; What lanes read differs: no comparison with it is the same in most gangs.
define void @data(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %x, i32 %size) {
entry:
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %value = load i32, ptr addrspace(1) %from
  %inside = icmp ult i32 %value, %size
  br i1 %inside, label %store, label %done
store:
  %first = shl i32 %x, 3
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  store float 1.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
; Both sides have work.
define void @sides(ptr addrspace(1) %out, i32 %x, i32 %size) {
entry:
  %first = shl i32 %x, 3
  %at = getelementptr float, ptr addrspace(1) %out, i32 %first
  %inside = icmp ult i32 %first, %size
  br i1 %inside, label %store, label %other
store:
  store float 1.0, ptr addrspace(1) %at
  br label %done
other:
  store float 2.0, ptr addrspace(1) %at
  br label %done
done:
  ret void
}
