// Copies with conversion: a repeated scalar (s), contiguous (v), contiguous rows on both sides (r),
// strided on both sides (g), strided with more than four dimensions (gn). Copies of rows that are
// read backwards (b). Copies to rows of 2 to 8
// elements that follow each other: one element of each of several lines, as `repeat` and the
// transposition of a few rows do (i); or rows that are further apart in the input (p).
// Transpositions of many rows (t).
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/strided.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T, typename U>
[[kernel]] void copy_s(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = convert<U>(in[0]);
}

template <typename T, typename U>
[[kernel]] void copy_v(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = convert<U>(in[i]);
}

template <typename T, typename U>
[[kernel]] void copy_g(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       uint3 pos [[thread_position_in_grid]]) {
  out[strided_offset(strides, 1, pos)] = convert<U>(in[strided_offset(strides, 0, pos)]);
}

template <typename T, typename U>
[[kernel]] void copy_r(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       uint3 pos [[thread_position_in_grid]]) {
  out[row_offset(strides, 1, pos) + pos.x] = convert<U>(in[row_offset(strides, 0, pos) + pos.x]);
}

template <typename T, typename U>
[[kernel]] void copy_gn(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                        constant const int* shape [[buffer(2)]],
                        constant const int64_t* strides [[buffer(3)]],
                        constant const int& ndim [[buffer(4)]],
                        uint3 pos [[thread_position_in_grid]]) {
  int64_t i = deep_offset(shape, strides, ndim, pos);
  int64_t o = deep_offset(shape, strides + ndim, ndim, pos);
  out[o] = convert<U>(in[i]);
}

template <typename T>
[[kernel]] void copy_b(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       uint3 pos [[thread_position_in_grid]]) {
  out[row_offset(strides, 1, pos) + pos.x] =
      in[row_offset(strides, 0, pos) - static_cast<int64_t>(pos.x)];
}

// A thread copies a row.
template <typename T, int N>
[[kernel]] void copy_i(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       constant const int64_t& line_stride [[buffer(3)]],
                       uint3 pos [[thread_position_in_grid]]) {
  in += row_offset(strides, 0, pos) + pos.x;
  out += row_offset(strides, 1, pos) + int64_t(pos.x) * N;
  for (int k = 0; k < N; ++k) out[k] = in[k * line_stride];
}

template <typename T, int N>
[[kernel]] void copy_p(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       uint3 pos [[thread_position_in_grid]]) {
  in += strided_offset(strides, 0, pos);
  out += row_offset(strides, 1, pos) + int64_t(pos.x) * N;
  for (int k = 0; k < N; ++k) out[k] = in[k];
}

// y runs along contiguous elements of the input, x along those of the output. A threadgroup moves a
// square through its memory, so that it reads and writes rows.
template <typename T>
[[kernel]] void copy_t(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       constant const Strides4<2>& strides [[buffer(2)]],
                       constant const int2& extents [[buffer(3)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint3 item [[thread_position_in_threadgroup]]) {
  constexpr int kSide = square_side(sizeof(T));
  threadgroup T square[kSide][kSide + 1];
  const uint3 corner = uint3(group.x * kSide, group.y * kSide, group.z);
  const int width = extents.x - int(corner.x), height = extents.y - int(corner.y);
  const int column = item.x, first = item.y;
  in += strided_offset(strides, 0, corner);
  out += strided_offset(strides, 1, corner);
  for (int row = first; row < kSide; row += kSquareRows)
    if (row < width && column < height)
      square[row][column] = in[row * strides.stride[0][0] + column];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int row = first; row < kSide; row += kSquareRows)
    if (row < height && column < width)
      out[row * strides.stride[1][1] + column] = square[column][row];
}

#define COPY(to, U, from, T)                        \
  MLX_KERNEL("copy_s_" #from "_" #to, copy_s<T, U>) \
  MLX_KERNEL("copy_v_" #from "_" #to, copy_v<T, U>) \
  MLX_KERNEL("copy_r_" #from "_" #to, copy_r<T, U>) \
  MLX_KERNEL("copy_g_" #from "_" #to, copy_g<T, U>) \
  MLX_KERNEL("copy_gn_" #from "_" #to, copy_gn<T, U>)

MLX_FOR_ALL(COPY, bool_, bool)
MLX_FOR_ALL(COPY, uint8, uint8_t)
MLX_FOR_ALL(COPY, uint16, uint16_t)
MLX_FOR_ALL(COPY, uint32, uint32_t)
MLX_FOR_ALL(COPY, uint64, uint64_t)
MLX_FOR_ALL(COPY, int8, int8_t)
MLX_FOR_ALL(COPY, int16, int16_t)
MLX_FOR_ALL(COPY, int32, int32_t)
MLX_FOR_ALL(COPY, int64, int64_t)
MLX_FOR_ALL(COPY, float16, half)
MLX_FOR_ALL(COPY, bfloat16, bfloat16_t)
MLX_FOR_ALL(COPY, float32, float)
MLX_FOR_ALL(COPY, complex64, complex64_t)

#define COPY_SHORT(name, T, N)                      \
  MLX_KERNEL("copy_i" #N "_" #name, copy_i<T, N>) \
  MLX_KERNEL("copy_p" #N "_" #name, copy_p<T, N>)
#define COPY_ROWS(name, T)                           \
  MLX_KERNEL("copy_b_" #name "_" #name, copy_b<T>) \
  MLX_KERNEL("copy_t_" #name "_" #name, copy_t<T>) \
  COPY_SHORT(name, T, 2)                             \
  COPY_SHORT(name, T, 3)                             \
  COPY_SHORT(name, T, 4)                             \
  COPY_SHORT(name, T, 5)                             \
  COPY_SHORT(name, T, 6)                             \
  COPY_SHORT(name, T, 7)                             \
  COPY_SHORT(name, T, 8)

COPY_ROWS(uint8, uint8_t)
COPY_ROWS(uint16, uint16_t)
COPY_ROWS(uint32, uint32_t)
COPY_ROWS(uint64, uint64_t)
