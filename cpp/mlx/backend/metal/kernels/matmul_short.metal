// Products of matrices of 16-bit floats, where no library of the device multiplies them, by
// SIMD-group matrices. A threadgroup computes a tile of the result. It goes through strips of both
// matrices, which it copies to threadgroup memory as they lie in memory: a matrix is transposed
// when its parts are read from there. A strip is on its way while the one before it is multiplied.
//
// All rows of matrices, or columns if these are contiguous, begin at multiples of 16 bytes, and
// their last vectors are readable.
#include <metal_simdgroup_matrix>

#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/matmul_params.h"
#include "mlx/backend/metal/kernels/matrix_place.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kThreads = 128;
constant constexpr uint kDepth = 32;   // columns of a, and rows of b, in a strip
constant constexpr uint kVector = 8;   // elements that a thread copies at a time
constant constexpr uint kPadding = 8;  // after a row, so that rows begin in different banks

// What takes part of a matrix in memory, whose rows lie `step` elements apart.
struct Rows {
  const device uint4* buffer;
  int64_t first;  // element of the buffer
  int64_t step;
  uint2 begin, end;  // the columns and rows that take part; others count as zeros
};

// A strip of a matrix on its way to threadgroup memory.
template <uint columns, uint rows>
struct Strip {
  enum : uint {
    kInRow = columns / kVector,
    kVectors = rows * kInRow,
    kEach = kVectors / kThreads,
    kStep = columns + kPadding,
  };
  static_assert(kVectors % kThreads == 0, "threads have equal parts");

  // What is outside of the rows is replaced by something inside.
  METAL_FUNC void load(Rows from, uint2 first, uint member) {
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      const uint2 place = min(first + place_of(i, member), (from.end - 1) & ~uint2(kVector - 1, 0));
      const int64_t at = from.first + int64_t(place.y) * from.step + place.x;
      vectors[i] = from.buffer[at / int(kVector)];
    }
  }

  // `first` is the place that was loaded.
  METAL_FUNC void store(threadgroup uint4* to, Rows from, uint2 first, uint member) const {
    const uint2 end = first + uint2(columns, rows);
    const bool inside = all(first >= from.begin) && all(end <= from.end);
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      const uint2 place = place_of(i, member);
      threadgroup uint4& vector = to[place.y * (kStep / kVector) + place.x / kVector];
      vector = vectors[i];
      if (!inside) clear_outside(vector, from, first + place);
    }
  }

 private:
  static METAL_FUNC uint2 place_of(uint i, uint member) {
    const uint item = member + i * kThreads;
    return uint2(item % kInRow * kVector, item / kInRow);
  }

  static METAL_FUNC void clear_outside(threadgroup uint4& vector, Rows from, uint2 place) {
    auto elements = reinterpret_cast<threadgroup ushort*>(&vector);
    const bool row = place.y >= from.begin.y && place.y < from.end.y;
    for (uint i = 0; i < kVector; ++i) {
      if (!row || place.x + i < from.begin.x || place.x + i >= from.end.x) elements[i] = 0;
    }
  }

  uint4 vectors[kEach];
};

// A tile of `rows` rows and 128 columns. `ta`, `tb`: whether a and b lie in memory by columns.
template <typename T, uint rows, bool ta, bool tb>
struct Tile {
  enum : uint {
    kColumns = 128,
    kGroupsDown = rows / 64 ? rows / 64 : 1,  // SIMD-groups
    kGroupsAcross = kThreads / 32 / kGroupsDown,
    kHigh = rows / kGroupsDown / 8,  // matrices of a SIMD-group
    kWide = kColumns / kGroupsAcross / 8,
  };
  using StripA = Strip<ta ? rows : kDepth, ta ? kDepth : rows>;
  using StripB = Strip<tb ? kDepth : kColumns, tb ? kColumns : kDepth>;
  struct Memory {
    alignas(16) T a[StripA::kStep * (ta ? kDepth : rows)];
    alignas(16) T b[StripB::kStep * (tb ? kColumns : kDepth)];
  };

  // The columns of a and the rows of b from `first` to `end` take part.
  METAL_FUNC void add_products(Rows a, Rows b, uint2 corner, uint first, uint end,
                               threadgroup Memory& memory, uint member, uint simdgroup) {
#pragma unroll
    for (uint i = 0; i < kHigh; ++i)
#pragma unroll
      for (uint j = 0; j < kWide; ++j)
        sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    StripA of_a;
    StripB of_b;
    if (first >= end) return;
    first = first / kVector * kVector;
    load(of_a, of_b, a, b, corner, first, member);
    for (uint k = first; k < end; k += kDepth) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      of_a.store(reinterpret_cast<threadgroup uint4*>(memory.a), a, place_in_a(corner, k), member);
      of_b.store(reinterpret_cast<threadgroup uint4*>(memory.b), b, place_in_b(corner, k), member);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (k + kDepth < end) load(of_a, of_b, a, b, corner, k + kDepth, member);
      multiply(memory.a, memory.b, first_row(simdgroup), first_column(simdgroup));
    }
  }

  METAL_FUNC void store(device T* c, constant const MatmulParams& p, uint2 corner, uint simdgroup,
                        uint lane) {
    const MatrixPlace place(lane);
    const uint row = corner.y + first_row(simdgroup) + place.row;
    const uint column = corner.x + first_column(simdgroup) + place.column;
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      const uint y = row + i * 8;
      device T* to = c + int64_t(y) * p.n;
      if (y >= p.m) return;
#pragma unroll
      for (uint j = 0; j < kWide; ++j) {
        const float2 pair = sums[i][j].thread_elements();
#pragma unroll
        for (uint e = 0; e < 2; ++e) {
          const uint x = column + j * 8 + e;
          if (x < p.n) to[x] = T(p.alpha * pair[e] + (p.adds ? p.beta * float(to[x]) : 0.0f));
        }
      }
    }
  }

 private:
  static METAL_FUNC uint first_row(uint simdgroup) {
    return simdgroup / kGroupsAcross * (kHigh * 8);
  }
  static METAL_FUNC uint first_column(uint simdgroup) {
    return simdgroup % kGroupsAcross * (kWide * 8);
  }

  static METAL_FUNC void load(thread StripA& of_a, thread StripB& of_b, Rows a, Rows b,
                              uint2 corner, uint k, uint member) {
    of_a.load(a, place_in_a(corner, k), member);
    of_b.load(b, place_in_b(corner, k), member);
  }
  static METAL_FUNC uint2 place_in_a(uint2 corner, uint k) {
    return ta ? uint2(corner.y, k) : uint2(k, corner.y);
  }
  static METAL_FUNC uint2 place_in_b(uint2 corner, uint k) {
    return tb ? uint2(k, corner.x) : uint2(corner.x, k);
  }

  METAL_FUNC void multiply(const threadgroup T* a, const threadgroup T* b, uint row, uint column) {
    for (uint k = 0; k < kDepth; k += 8) {
      simdgroup_matrix<T, 8, 8> left[kHigh], right[kWide];
#pragma unroll
      for (uint i = 0; i < kHigh; ++i) read<ta>(left[i], a, StripA::kStep, row + i * 8, k);
#pragma unroll
      for (uint j = 0; j < kWide; ++j) read<tb>(right[j], b, StripB::kStep, k, column + j * 8);
#pragma unroll
      for (uint i = 0; i < kHigh; ++i)
#pragma unroll
        for (uint j = 0; j < kWide; ++j)
          simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
  }

  // Of a matrix whose rows, or with `transposed` its columns, lie in threadgroup memory.
  template <bool transposed>
  static METAL_FUNC void read(thread simdgroup_matrix<T, 8, 8>& matrix, const threadgroup T* from,
                              uint step, uint row, uint column) {
    const uint start = transposed ? column * step + row : row * step + column;
    simdgroup_load(matrix, from + start, step, ulong2(0, 0), transposed);
  }

  simdgroup_float8x8 sums[kHigh][kWide];
};

// A factor of the products that a kernel computes.
struct Factor {
  const device uint4* buffer;
  int64_t first;  // element of the buffer
};

// Adds up and stores the products of a tile.
template <typename T, uint rows, bool ta, bool tb>
METAL_FUNC void multiply_tile(Factor a, Factor b, device T* c, constant const MatmulParams& p,
                              uint first, uint end, uint3 tile, uint member, uint simdgroup,
                              uint lane,
                              threadgroup typename Tile<T, rows, ta, tb>::Memory& memory) {
  const uint2 corner = tile.xy * uint2(Tile<T, rows, ta, tb>::kColumns, rows);
  const Rows of_a{a.buffer, a.first, ta ? p.a_column : p.a_row,
                  ta ? uint2(0, first) : uint2(first, 0), ta ? uint2(p.m, end) : uint2(end, p.m)};
  const Rows of_b{b.buffer, b.first, tb ? p.b_column : p.b_row,
                  tb ? uint2(first, 0) : uint2(0, first), tb ? uint2(end, p.n) : uint2(p.n, end)};
  Tile<T, rows, ta, tb> sums;
  sums.add_products(of_a, of_b, corner, first, end, memory, number_of_copy(member), simdgroup);
  sums.store(c + int64_t(tile.z) * p.m * p.n, p, corner, simdgroup, lane);
}

#define PRODUCT_ARGUMENTS                                                                       \
  const device uint4 *a [[buffer(0)]], const device uint4 *b [[buffer(1)]],                      \
      device T *c [[buffer(2)]], constant const MatmulParams &p [[buffer(3)]]
#define TILE_ATTRIBUTES                                                                          \
  uint3 tile [[threadgroup_position_in_grid]], uint member [[thread_index_in_threadgroup]],      \
      uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]

// A batch of any number of dimensions; the strides of b follow those of a.
template <typename T, uint rows, bool ta, bool tb>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void short_matmul(
    PRODUCT_ARGUMENTS, constant const int* shape [[buffer(4)]],
    constant const int64_t* strides [[buffer(5)]], constant const int& ndim [[buffer(6)]],
    TILE_ATTRIBUTES) {
  threadgroup typename Tile<T, rows, ta, tb>::Memory memory;
  const Factor left{a, elem_to_loc(tile.z, shape, strides, ndim)};
  const Factor right{b, elem_to_loc(tile.z, shape, strides + ndim, ndim)};
  multiply_tile<T, rows, ta, tb>(left, right, c, p, 0, p.k, tile, member, simdgroup, lane, memory);
}

template <typename T, uint rows, bool ta, bool tb>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void short_matmul_gathered(
    PRODUCT_ARGUMENTS, const device int* lhs [[buffer(4)]], const device int* rhs [[buffer(5)]],
    TILE_ATTRIBUTES) {
  threadgroup typename Tile<T, rows, ta, tb>::Memory memory;
  const Factor left{a, listed(lhs, tile.z, p.a_count) * p.a_matrix};
  const Factor right{b, listed(rhs, tile.z, p.b_count) * p.b_matrix};
  multiply_tile<T, rows, ta, tb>(left, right, c, p, 0, p.k, tile, member, simdgroup, lane, memory);
}

// Each product takes some of the columns of a and rows of b.
template <typename T, uint rows, bool ta, bool tb>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void short_matmul_segments(
    PRODUCT_ARGUMENTS, const device int64_t* segments [[buffer(4)]], TILE_ATTRIBUTES) {
  threadgroup typename Tile<T, rows, ta, tb>::Memory memory;
  const int64_t end = p.k;
  const int64_t start = clamp(segments[2 * tile.z], int64_t(0), end);
  const int64_t stop = clamp(segments[2 * tile.z + 1], start, end);
  multiply_tile<T, rows, ta, tb>({a, 0}, {b, 0}, c, p, start, stop, tile, member, simdgroup, lane,
                                 memory);
}

#define SHORT_MATMULS_OF(host, kernel, name, T, rows)                                     \
  MLX_KERNEL(host "_" #name "_" #rows "_nn", kernel<T, rows, false, false>)               \
  MLX_KERNEL(host "_" #name "_" #rows "_nt", kernel<T, rows, false, true>)                \
  MLX_KERNEL(host "_" #name "_" #rows "_tn", kernel<T, rows, true, false>)                \
  MLX_KERNEL(host "_" #name "_" #rows "_tt", kernel<T, rows, true, true>)
#define SHORT_MATMULS(name, T)                                             \
  SHORT_MATMULS_OF("ShortMatmul", short_matmul, name, T, 128)              \
  SHORT_MATMULS_OF("ShortMatmul", short_matmul, name, T, 32)               \
  SHORT_MATMULS_OF("ShortGatherMM", short_matmul_gathered, name, T, 128)   \
  SHORT_MATMULS_OF("ShortGatherMM", short_matmul_gathered, name, T, 32)    \
  SHORT_MATMULS_OF("ShortSegmentedMM", short_matmul_segments, name, T, 128) \
  SHORT_MATMULS_OF("ShortSegmentedMM", short_matmul_segments, name, T, 32)
SHORT_MATMULS(float16, half)
SHORT_MATMULS(bfloat16, bfloat16_t)
