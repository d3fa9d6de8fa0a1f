// Products of float32 and complex64, where no library of the device multiplies them; those of 16-bit
// floats are in matmul_short.metal. A threadgroup computes a square tile of the result: it goes
// through strips of both matrices, which it copies to threadgroup memory, and each thread adds up
// the products of a few rows and columns in registers.
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/matmul_params.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kThreads = 256;
constant constexpr uint kThreadsAcross = 16;
constant constexpr uint kDepth = 16;  // columns of a, and rows of b, in a strip
constant constexpr uint kRun = 4;     // neighbouring rows or columns of a thread

inline float multiply_add(float a, float b, float c) { return fma(a, b, c); }
inline complex64_t multiply_add(complex64_t a, complex64_t b, complex64_t c) {
  return complex64_t(fma(a.real, b.real, fma(-a.imag, b.imag, c.real)),
                     fma(a.real, b.imag, fma(a.imag, b.real, c.imag)));
}
inline float scaled(float factor, float x) { return factor * x; }
inline complex64_t scaled(float factor, complex64_t x) {
  return complex64_t(factor * x.real, factor * x.imag);
}

// The lines of a matrix that a tile needs: rows of a, or columns of b.
template <typename T>
struct Lines {
  const device T* first;
  int64_t step;        // between lines
  int64_t depth_step;  // between the elements of a line
  uint count;          // zeros follow
};

// Lines are padded, so that threads that copy one line use different banks of the memory.
template <typename T, uint side>
struct alignas(16) Strip {
  T at[kDepth][side + kRun];
};

// Neighbouring threads read neighbouring elements.
template <typename T, uint side>
inline void fill(threadgroup Strip<T, side>& strip, Lines<T> lines, uint first, uint depth,
                 uint member) {
  const bool along = lines.depth_step == 1;
#pragma unroll
  for (uint i = 0; i < side * kDepth / kThreads; ++i) {
    const uint element = i * kThreads + member;
    const uint k = along ? element % kDepth : element / side;
    const uint line = along ? element / kDepth : element % side;
    const bool inside = line < lines.count && first + k < depth;
    const int64_t place = line * lines.step + (first + k) * lines.depth_step;
    strip.at[k][line] = inside ? lines.first[place] : T(0.0f);
  }
}

// The number of a thread's row or column within the tile.
template <uint side>
inline uint own_line(uint number, uint member) {
  return number / kRun * (kThreadsAcross * kRun) + member * kRun + number % kRun;
}

template <typename T, uint own>
struct Sums {
  T at[own][own];
};

template <typename T, uint side, uint own>
inline void add_products(thread Sums<T, own>& sums, const threadgroup Strip<T, side>& a,
                         const threadgroup Strip<T, side>& b, uint row, uint column) {
#pragma unroll
  for (uint k = 0; k < kDepth; ++k) {
    T x[own];
    T y[own];
#pragma unroll
    for (uint i = 0; i < own; ++i) {
      x[i] = a.at[k][own_line<side>(i, row)];
      y[i] = b.at[k][own_line<side>(i, column)];
    }
#pragma unroll
    for (uint i = 0; i < own; ++i) {
#pragma unroll
      for (uint j = 0; j < own; ++j) sums.at[i][j] = multiply_add(x[i], y[j], sums.at[i][j]);
    }
  }
}

template <typename T, uint own>
struct Strips {
  Strip<T, own * kThreadsAcross> a, b;
};

// A tile of one product. `first` and `depth`: the columns of a, and rows of b, that take part.
template <typename T, uint own>
inline void multiply_tile(const device T* a, const device T* b, device T* c,
                          constant const MatmulParams& p, uint first, uint depth, uint2 tile,
                          uint member, threadgroup Strips<T, own>& strips) {
  constexpr uint side = own * kThreadsAcross;
  const uint top = tile.y * side, left = tile.x * side;
  const Lines<T> rows{a + top * p.a_row, p.a_row, p.a_column, p.m - top};
  const Lines<T> columns{b + left * p.b_column, p.b_column, p.b_row, p.n - left};
  const uint row = member / kThreadsAcross, column = member % kThreadsAcross;
  Sums<T, own> sums = {};
  for (uint k = first; k < depth; k += kDepth) {
    fill(strips.a, rows, k, depth, member);
    fill(strips.b, columns, k, depth, member);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    add_products(sums, strips.a, strips.b, row, column);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
#pragma unroll
  for (uint i = 0; i < own; ++i) {
#pragma unroll
    for (uint j = 0; j < own; ++j) {
      const uint y = top + own_line<side>(i, row), x = left + own_line<side>(j, column);
      if (y >= p.m || x >= p.n) continue;
      device T* to = c + static_cast<int64_t>(y) * p.n + x;
      T sum = scaled(p.alpha, sums.at[i][j]);
      if (p.adds) sum = sum + scaled(p.beta, *to);
      *to = sum;
    }
  }
}

// A batch of any number of dimensions; the strides of b follow those of a.
template <typename T, uint own>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void matmul(
    const device T* a [[buffer(0)]], const device T* b [[buffer(1)]], device T* c [[buffer(2)]],
    constant const MatmulParams& p [[buffer(3)]], constant const int* shape [[buffer(4)]],
    constant const int64_t* strides [[buffer(5)]], constant const int& ndim [[buffer(6)]],
    uint3 tile [[threadgroup_position_in_grid]], uint member [[thread_index_in_threadgroup]]) {
  a += elem_to_loc(tile.z, shape, strides, ndim);
  b += elem_to_loc(tile.z, shape, strides + ndim, ndim);
  c += static_cast<int64_t>(tile.z) * p.m * p.n;
  threadgroup Strips<T, own> strips;
  multiply_tile(a, b, c, p, 0, p.k, tile.xy, member, strips);
}

template <typename T, uint own>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void matmul_gathered(
    const device T* a [[buffer(0)]], const device T* b [[buffer(1)]], device T* c [[buffer(2)]],
    constant const MatmulParams& p [[buffer(3)]], const device int* lhs [[buffer(4)]],
    const device int* rhs [[buffer(5)]], uint3 tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  a += listed(lhs, tile.z, p.a_count) * p.a_matrix;
  b += listed(rhs, tile.z, p.b_count) * p.b_matrix;
  c += static_cast<int64_t>(tile.z) * p.m * p.n;
  threadgroup Strips<T, own> strips;
  multiply_tile(a, b, c, p, 0, p.k, tile.xy, member, strips);
}

// Each product takes some of the columns of a and rows of b.
template <typename T, uint own>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void matmul_segments(
    const device T* a [[buffer(0)]], const device T* b [[buffer(1)]], device T* c [[buffer(2)]],
    constant const MatmulParams& p [[buffer(3)]], const device int64_t* segments [[buffer(4)]],
    uint3 tile [[threadgroup_position_in_grid]], uint member [[thread_index_in_threadgroup]]) {
  const int64_t end = p.k;
  const int64_t start = clamp(segments[2 * tile.z], int64_t(0), end);
  const int64_t stop = clamp(segments[2 * tile.z + 1], start, end);
  c += static_cast<int64_t>(tile.z) * p.m * p.n;
  threadgroup Strips<T, own> strips;
  multiply_tile(a, b, c, p, start, stop, tile.xy, member, strips);
}

MLX_KERNEL("Matmul_float32_4", matmul<float, 4>)
MLX_KERNEL("Matmul_float32_8", matmul<float, 8>)
MLX_KERNEL("GatherMM_float32_4", matmul_gathered<float, 4>)
MLX_KERNEL("SegmentedMM_float32_4", matmul_segments<float, 4>)
MLX_KERNEL("Matmul_complex64_4", matmul<complex64_t, 4>)
