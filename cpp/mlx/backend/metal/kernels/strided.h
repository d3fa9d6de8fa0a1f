// The offsets of elements of strided operands. The host includes this too, and fills the structs.
#pragma once

#ifdef __METAL_VERSION__
#include "mlx/backend/metal/kernels/utils.h"
#define MLX_CONSTANT constant
#else
#include <cstdint>
#define MLX_CONSTANT
#endif

// Up to four dimensions of `N` operands, innermost first: the first two are x and y of the grid; z
// is third + fourth * third_extent.
template <int N>
struct Strides4 {
  int64_t stride[N][4];
  uint32_t third_extent;
  uint32_t padding;
};

// The squares of copy_t: elements along a side, which fit into a threadgroup's memory; rows of
// threads of the threadgroup that moves one.
constexpr int square_side(int element_bytes) { return element_bytes > 4 ? 32 : 64; }
constexpr int kSquareRows = 8;

#ifdef __METAL_VERSION__

template <int N>
inline int64_t strided_offset(constant const Strides4<N>& s, int operand, uint3 pos) {
  uint inner = pos.z % s.third_extent;
  uint outer = pos.z / s.third_extent;
  return pos.x * s.stride[operand][0] + pos.y * s.stride[operand][1] +
         inner * s.stride[operand][2] + outer * s.stride[operand][3];
}

// The same without the innermost dimension, for kernels that know its stride.
template <int N>
inline int64_t row_offset(constant const Strides4<N>& s, int operand, uint3 pos) {
  return strided_offset(s, operand, uint3(0, pos.y, pos.z));
}

// Any number of dimensions, outermost first: x and y are the last two, z runs over the others.
inline int64_t deep_offset(constant const int* shape, constant const int64_t* strides, int ndim,
                           uint3 pos) {
  int64_t offset = pos.x * strides[ndim - 1] + pos.y * strides[ndim - 2];
  uint rest = pos.z;
  for (int d = ndim - 3; d >= 0; --d) {
    uint extent = shape[d];
    offset += (rest % extent) * strides[d];
    rest /= extent;
  }
  return offset;
}

// Row-major position in the grid, for outputs without gaps.
inline int64_t dense_offset(uint3 pos, uint3 grid) {
  return pos.x + grid.x * (pos.y + static_cast<int64_t>(grid.y) * pos.z);
}

#endif
