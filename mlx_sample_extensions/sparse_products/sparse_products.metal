// Kernels of sums of indexed products. The entries come in an order in which those that add to the
// same rows belong to one SIMD-group: nothing is added by atomics, and sums are always the same.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "sparse_products/sizes.h"

using namespace metal;

// The row that an entry uses.
METAL_FUNC int row_of(device const int* indices, int step, int entry) {
  return step == 0 ? entry : indices[size_t(entry) * step];
}

METAL_FUNC int tiles(int length, int tile) { return (length + tile - 1) / tile; }

// Reads a tile of a matrix so that a SIMD-group's lanes are its columns m; columns beyond the last
// are zero.
template <typename T, bool transposed>
METAL_FUNC void load_panel(
    device const T* a,
    threadgroup float (*panel)[SPARSE_COLUMNS],
    int depth,
    int columns,
    constant ProductSizes& sizes,
    int lane) {
  for (int c = 0; c < depth; ++c) {
    const size_t at = transposed ? size_t(c) * sizes.m + lane : size_t(lane) * sizes.c + c;
    panel[c][lane] = lane < columns ? float(a[at]) : 0.0f;
  }
}

// The products of N vectors with the panel, added to their rows one after the other: two may be the
// same.
template <int N, typename T>
METAL_FUNC void multiply_tile(
    device const T* b,
    device const int* b_idx,
    device const int* o_idx,
    device const int* entries,
    device float* sums,
    threadgroup float (*panel)[SPARSE_COLUMNS],
    int depth,
    bool inside,
    constant ProductSizes& sizes,
    int lane) {
  device const T* x[N];
  float sum[N];
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) {
    x[n] = b + size_t(row_of(b_idx, sizes.b_step, entries[n])) * sizes.groups * sizes.c;
    sum[n] = 0;
  }
  for (int c = 0; c < depth; ++c) {
    const float w = panel[c][lane];
#pragma clang loop unroll(full)
    for (int n = 0; n < N; ++n) sum[n] += float(x[n][c]) * w;
  }
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) {
    const size_t row = row_of(o_idx, sizes.o_step, entries[n]);
    if (inside) sums[row * sizes.groups * sizes.m] += sum[n];
  }
}

// A SIMD-group for each part of the order and each stretch of columns of one group.
template <typename T, bool transposed>
[[kernel]] void sparse_multiply(
    constant ProductSizes& sizes [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    device const int* a_idx [[buffer(3)]],
    device const int* b_idx [[buffer(4)]],
    device const int* o_idx [[buffer(5)]],
    device const int* order [[buffer(6)]],
    device float* sums [[buffer(7)]],
    device T* out [[buffer(8)]],
    uint2 position [[threadgroup_position_in_grid]],
    uint thread_lane [[thread_index_in_simdgroup]]) {
  threadgroup float panel[SPARSE_DEPTH][SPARSE_COLUMNS];
  const int lane = thread_lane;
  const int part = position.y;
  const int stretches = tiles(sizes.m, SPARSE_COLUMNS);
  const int g = position.x / stretches;
  const int first_column = position.x % stretches * SPARSE_COLUMNS;
  const int columns = min(sizes.m - first_column, SPARSE_COLUMNS);
  const bool inside = lane < columns;
  device const int* first_row = order + sizes.parts + 1;
  device const int* entries = first_row + sizes.parts + 1;
  const size_t column = size_t(g) * sizes.m + first_column + lane;
  const size_t row_size = size_t(sizes.groups) * sizes.m;
  sums += column;

  for (int row = first_row[part]; row < first_row[part + 1]; ++row) {
    if (inside) sums[row * row_size] = 0;
  }
  const int end = order[part + 1];
  for (int place = order[part]; place < end;) {
    const int matrix = row_of(a_idx, sizes.a_step, entries[place]);
    int stop = place + 1;
    while (stop < end && row_of(a_idx, sizes.a_step, entries[stop]) == matrix) ++stop;
    device const T* w = a + (size_t(matrix) * sizes.groups + g) * sizes.m * sizes.c +
        size_t(first_column) * (transposed ? 1 : sizes.c);
    for (int c = 0; c < sizes.c; c += SPARSE_DEPTH) {
      const int depth = min(sizes.c - c, SPARSE_DEPTH);
      load_panel<T, transposed>(
          w + size_t(c) * (transposed ? sizes.m : 1), panel, depth, columns, sizes, lane);
      simdgroup_barrier(mem_flags::mem_threadgroup);
      device const T* x = b + size_t(g) * sizes.c + c;
      int i = place;
      for (; i + SPARSE_VECTORS <= stop; i += SPARSE_VECTORS) {
        multiply_tile<SPARSE_VECTORS>(
            x, b_idx, o_idx, entries + i, sums, panel, depth, inside, sizes, lane);
      }
      for (; i < stop; ++i) {
        multiply_tile<1>(x, b_idx, o_idx, entries + i, sums, panel, depth, inside, sizes, lane);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    place = stop;
  }
  if (!is_same_v<T, float>) {
    for (int row = first_row[part]; row < first_row[part + 1]; ++row) {
      if (inside) out[row * row_size + column] = T(sums[row * row_size]);
    }
  }
}

// A SIMD-group for each row of the result and each tile of one group's matrix. Its lanes look up the
// rows of as many entries at once.
template <typename T>
[[kernel]] void sparse_outer(
    constant ProductSizes& sizes [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    device const int* a_idx [[buffer(3)]],
    device const int* b_idx [[buffer(4)]],
    device const int* order [[buffer(5)]],
    device T* out [[buffer(6)]],
    uint2 position [[threadgroup_position_in_grid]],
    uint thread_lane [[thread_index_in_simdgroup]]) {
  threadgroup int a_rows[SPARSE_COLUMNS];
  threadgroup int b_rows[SPARSE_COLUMNS];
  const int lane = thread_lane;
  const int across = tiles(sizes.c, SPARSE_COLUMNS);
  const int down = tiles(sizes.m, SPARSE_OUTER_ROWS);
  const int c = position.x % across * SPARSE_COLUMNS + lane;
  const int m = position.x / across % down * SPARSE_OUTER_ROWS;
  const int g = position.x / across / down;
  const int row = position.y;
  const bool inside = c < sizes.c;
  device const int* entries = order + sizes.parts + 1;
  a += size_t(g) * sizes.m;
  b += size_t(g) * sizes.c + (inside ? c : 0);

  float sum[SPARSE_OUTER_ROWS] = {};
  const int end = order[row + 1];
  for (int place = order[row]; place < end; place += SPARSE_COLUMNS) {
    const int count = min(end - place, SPARSE_COLUMNS);
    if (lane < count) {
      a_rows[lane] = row_of(a_idx, sizes.a_step, entries[place + lane]);
      b_rows[lane] = row_of(b_idx, sizes.b_step, entries[place + lane]);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < count; ++i) {
      device const T* x = a + size_t(a_rows[i]) * sizes.groups * sizes.m;
      const float y = b[size_t(b_rows[i]) * sizes.groups * sizes.c];
#pragma clang loop unroll(full)
      for (int n = 0; n < SPARSE_OUTER_ROWS; ++n) {
        sum[n] += float(x[min(m + n, sizes.m - 1)]) * y;
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  out += (size_t(row) * sizes.groups + g) * sizes.m * sizes.c + c;
#pragma clang loop unroll(full)
  for (int n = 0; n < SPARSE_OUTER_ROWS; ++n) {
    if (inside && m + n < sizes.m) out[size_t(m + n) * sizes.c] = T(sum[n]);
  }
}

#define instantiate_products(name, type)                                            \
  instantiate_kernel("sparse_multiply_" #name, sparse_multiply, type, false)        \
  instantiate_kernel("sparse_multiply_transposed_" #name, sparse_multiply, type, true) \
  instantiate_kernel("sparse_outer_" #name, sparse_outer, type)

instantiate_products(float32, float)
instantiate_products(float16, half)
instantiate_products(bfloat16, bfloat16_t)
