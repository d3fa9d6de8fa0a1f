// Offsets of an element in several arrays that are broadcast to one shape.
#pragma once

#include <metal_stdlib>

METAL_FUNC ulong2 elem_to_loc_broadcast(uint elem, constant const int* shape,
                                        constant const int64_t* a_strides,
                                        constant const int64_t* b_strides, int ndim) {
  int64_t a = 0, b = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    const uint size = uint(shape[d]);
    const int64_t position = elem % size;
    a += position * a_strides[d];
    b += position * b_strides[d];
    elem /= size;
  }
  return ulong2(a, b);
}

METAL_FUNC ulong3 elem_to_loc_broadcast(uint elem, constant const int* shape,
                                        constant const int64_t* a_strides,
                                        constant const int64_t* b_strides,
                                        constant const int64_t* c_strides, int ndim) {
  int64_t a = 0, b = 0, c = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    const uint size = uint(shape[d]);
    const int64_t position = elem % size;
    a += position * a_strides[d];
    b += position * b_strides[d];
    c += position * c_strides[d];
    elem /= size;
  }
  return ulong3(a, b, c);
}
