// The names that structures shared with the host use: simd_float4, vector_float4 and simd::float4.
// The host's header of this name defines them with the same sizes and layouts.
#pragma once

#include <metal_matrix>
#include <metal_types>

namespace simd {
using namespace metal;
}  // namespace simd

#define __METAL_SIMD_NAMES(T)                      \
  typedef metal::T##2 simd_##T##2;                 \
  typedef metal::T##3 simd_##T##3;                 \
  typedef metal::T##4 simd_##T##4;                 \
  typedef simd_##T##2 vector_##T##2;               \
  typedef simd_##T##3 vector_##T##3;               \
  typedef simd_##T##4 vector_##T##4;               \
  typedef metal::packed_##T##2 simd_packed_##T##2; \
  typedef metal::packed_##T##4 simd_packed_##T##4;

__METAL_SIMD_NAMES(char)
__METAL_SIMD_NAMES(uchar)
__METAL_SIMD_NAMES(short)
__METAL_SIMD_NAMES(ushort)
__METAL_SIMD_NAMES(int)
__METAL_SIMD_NAMES(uint)
__METAL_SIMD_NAMES(long)
__METAL_SIMD_NAMES(ulong)
__METAL_SIMD_NAMES(half)
__METAL_SIMD_NAMES(float)

#undef __METAL_SIMD_NAMES

#define __METAL_SIMD_MATRIX(T, size)     \
  typedef metal::T##size simd_##T##size; \
  typedef simd_##T##size matrix_##T##size;
#define __METAL_SIMD_MATRICES(T) \
  __METAL_SIMD_MATRIX(T, 2x2)    \
  __METAL_SIMD_MATRIX(T, 2x3)    \
  __METAL_SIMD_MATRIX(T, 2x4)    \
  __METAL_SIMD_MATRIX(T, 3x2)    \
  __METAL_SIMD_MATRIX(T, 3x3)    \
  __METAL_SIMD_MATRIX(T, 3x4)    \
  __METAL_SIMD_MATRIX(T, 4x2)    \
  __METAL_SIMD_MATRIX(T, 4x3)    \
  __METAL_SIMD_MATRIX(T, 4x4)

__METAL_SIMD_MATRICES(half)
__METAL_SIMD_MATRICES(float)

#undef __METAL_SIMD_MATRICES
#undef __METAL_SIMD_MATRIX
