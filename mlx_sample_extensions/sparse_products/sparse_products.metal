// Kernels of sums of indexed products. The entries are ordered so that those that add to the same
// rows belong to one SIMD-group: no atomics are needed, and sums are reproducible.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "sparse_products/sizes.h"

using namespace metal;

#include "sparse_products/rows.h"

METAL_FUNC int tiles(int length, int tile) { return (length + tile - 1) / tile; }

// The rows of a block of entries; each lane reads one.
METAL_FUNC void look_up(
    device const int* indices,
    int step,
    device const int* entries,
    threadgroup int* rows,
    int count,
    int lane) {
  if (lane < count) rows[lane] = row_of(indices, step, entries[lane]);
}

// The end of the entries that share a matrix; each lane tests one.
METAL_FUNC int end_of_matrix(
    device const int* a_idx,
    int step,
    device const int* entries,
    int matrix,
    int place,
    int end,
    int lane) {
  for (;; place += 32) {
    const int at = place + lane;
    const bool same = at < end && row_of(a_idx, step, entries[min(at, end - 1)]) == matrix;
    const uint others = uint(uint64_t(simd_ballot(!same)));
    if (others != 0) return place + ctz(others);
  }
}

template <int columns, typename T>
METAL_FUNC void load_row(device const T* from, threadgroup float* to, int width, int lane) {
#pragma clang loop unroll(full)
  for (int start = 0; start < columns; start += 32) {
    if (start + lane < width) (to + start)[lane] = float((from + start)[lane]);
  }
}

// Copies parts of the block's vectors side by side. Many loads are in flight at once, from any
// rows.
template <typename T, int columns>
METAL_FUNC void load_block(
    device const T* vectors,
    size_t row_size,
    threadgroup const int* rows,
    threadgroup float (*block)[columns],
    int count,
    int width,
    int lane) {
  for (int i = 0; i < count; ++i) {
    load_row<columns>(vectors + rows[i] * row_size, block[i], width, lane);
  }
}

// Reads a tile of a matrix so that lanes are its columns m. A column-major matrix is copied through
// the block's memory, 32 columns at a time, so that all reads are contiguous.
template <typename T, bool transposed>
METAL_FUNC void load_panel(
    device const T* a,
    threadgroup float* panel,
    threadgroup float (*block)[SPARSE_COLUMNS],
    int depth,
    int columns,
    constant ProductSizes& sizes,
    int lane) {
  for (int start = 0; start < columns; start += 32) {
    const bool inside = start + lane < columns;
    threadgroup float* to = panel + start;
    if (transposed) {
      for (int c = 0; c < depth; ++c) {
        device const T* from = a + size_t(c) * sizes.m + start;
        if (inside) (to + c * SPARSE_COLUMNS)[lane] = float(from[lane]);
      }
      continue;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int m = 0; m < min(columns - start, 32); ++m) {
      load_row<SPARSE_COLUMNS>(a + size_t(start + m) * sizes.c, block[m], depth, lane);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int c = 0; c < depth; c += 8) {
#pragma clang loop unroll(full)
      for (int i = c; i < c + 8; ++i) {
        if (inside) (to + i * SPARSE_COLUMNS)[lane] = block[lane][i];
      }
    }
  }
}

// Adds the products of N vectors of a block with 32 columns of the panel to their rows, one after
// the other, since two rows may be the same. With `halves`, lanes from 16 on are columns of the
// next group, whose terms follow.
template <int N, bool halves>
METAL_FUNC void multiply_tile(
    threadgroup const float* block,
    threadgroup const float* panel,
    threadgroup const int* o_rows,
    device float* sums,
    size_t row_size,
    int depth,
    bool inside,
    int lane) {
  device float* o[N];
  float sum[N];
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) {
    o[n] = sums + o_rows[n] * row_size;
    sum[n] = 0;
  }
  for (int c = 0; c < depth; ++c) {
    const float w = (panel + c * SPARSE_COLUMNS)[lane];
#pragma clang loop unroll(full)
    for (int n = 0; n < N; ++n) {
      threadgroup const float* x = block + n * SPARSE_COLUMNS + c;
      if (halves) {
        const float value = x[0];
        const float next = x[depth];
        sum[n] = fma(lane < 16 ? value : next, w, sum[n]);
      } else {
        sum[n] = fma(x[0], w, sum[n]);
      }
    }
  }
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) {
    if (inside) o[n][lane] += sum[n];
  }
}

// The same for all vectors of a block.
template <bool halves>
METAL_FUNC void multiply_block(
    threadgroup const float* block,
    threadgroup const float* panel,
    threadgroup const int* o_rows,
    device float* sums,
    size_t row_size,
    int depth,
    int count,
    bool inside,
    int lane) {
  int i = 0;
  for (; i + SPARSE_VECTORS <= count; i += SPARSE_VECTORS) {
    multiply_tile<SPARSE_VECTORS, halves>(
        block + i * SPARSE_COLUMNS, panel, o_rows + i, sums, row_size, depth, inside, lane);
  }
  for (; i + 4 <= count; i += 4) {
    multiply_tile<4, halves>(
        block + i * SPARSE_COLUMNS, panel, o_rows + i, sums, row_size, depth, inside, lane);
  }
  for (; i < count; ++i) {
    multiply_tile<1, halves>(
        block + i * SPARSE_COLUMNS, panel, o_rows + i, sums, row_size, depth, inside, lane);
  }
}

// A SIMD-group for each part of the order and each range of columns of one group, or of several
// groups if they have so few columns and terms that their tiles fit side by side.
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
  // Lanes without a column read the elements behind the last one.
  threadgroup float panel[SPARSE_DEPTH * SPARSE_COLUMNS + 32];
  threadgroup float block[SPARSE_ENTRIES][SPARSE_COLUMNS];
  threadgroup int b_rows[SPARSE_ENTRIES];
  threadgroup int o_rows[SPARSE_ENTRIES];
  const int lane = thread_lane;
  const int part = position.y;
  const int stretches = tiles(sizes.m, SPARSE_COLUMNS);
  const int g = position.x / stretches * sizes.bundle;
  const int groups = min(sizes.groups - g, sizes.bundle);
  const int first_column = position.x % stretches * SPARSE_COLUMNS;
  const int columns = min(sizes.m - first_column, SPARSE_COLUMNS);
  const int all_columns = (groups - 1) * sizes.m + columns;
  device const int* first_row = order + sizes.parts + 1;
  device const int* entries = first_row + sizes.parts + 1;
  const size_t row_size = size_t(sizes.groups) * sizes.m;
  const size_t matrix_size = size_t(sizes.m) * sizes.c;
  sums += size_t(g) * sizes.m + first_column;
  out += size_t(g) * sizes.m + first_column;
  a += g * matrix_size + size_t(first_column) * (transposed ? 1 : sizes.c);
  b += size_t(g) * sizes.c;

  for (int row = first_row[part]; row < first_row[part + 1]; ++row) {
    for (int m = lane; m < all_columns; m += 32) sums[row * row_size + m] = 0;
  }
  simdgroup_barrier(mem_flags::mem_device);
  const int end = order[part + 1];
  for (int place = order[part]; place < end;) {
    const int matrix = row_of(a_idx, sizes.a_step, entries[place]);
    const int stop = end_of_matrix(a_idx, sizes.a_step, entries, matrix, place, end, lane);
    device const T* w = a + matrix * sizes.groups * matrix_size;
    for (int c = 0; c < sizes.c; c += SPARSE_DEPTH) {
      const int depth = min(sizes.c - c, SPARSE_DEPTH);
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (int q = 0; q < groups; ++q) {
        load_panel<T, transposed>(
            w + q * matrix_size + size_t(c) * (transposed ? sizes.m : 1), panel + q * sizes.m,
            block, depth, columns, sizes, lane);
      }
      for (int first = place; first < stop; first += SPARSE_ENTRIES) {
        const int count = min(stop - first, SPARSE_ENTRIES);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        look_up(b_idx, sizes.b_step, entries + first, b_rows, count, lane);
        look_up(o_idx, sizes.o_step, entries + first, o_rows, count, lane);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        load_block(
            b + c, size_t(sizes.groups) * sizes.c, b_rows, block, count,
            (groups - 1) * sizes.c + depth, lane);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (sizes.m == 16 && groups > 1) {
          for (int q = 0; q < groups; q += 2) {
            const bool inside = q * 16 + lane < all_columns;
            multiply_block<true>(
                block[0] + q * sizes.c, panel + q * 16, o_rows, sums + q * 16, row_size, depth,
                count, inside, lane);
          }
          continue;
        }
        for (int q = 0; q < groups; ++q) {
          for (int start = 0; start < columns; start += 32) {
            const int column = q * sizes.m + start;
            multiply_block<false>(
                block[0] + q * sizes.c, panel + column, o_rows, sums + column, row_size, depth,
                count, start + lane < columns, lane);
          }
        }
      }
    }
    place = stop;
  }
  if (!is_same_v<T, float>) {
    simdgroup_barrier(mem_flags::mem_device);
    for (int row = first_row[part]; row < first_row[part + 1]; ++row) {
      for (int m = lane; m < all_columns; m += 32) {
        out[row * row_size + m] = T(sums[row * row_size + m]);
      }
    }
  }
}

// Adds the outer products of a block to N rows of 32 columns, or makes them the first terms.
template <int N>
METAL_FUNC void outer_tile(
    threadgroup const float* left,
    threadgroup const float* right,
    device float* sums,
    size_t row_size,
    int count,
    bool first,
    bool inside,
    int lane) {
  float sum[N];
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) sum[n] = 0;
  for (int i = 0; i < count; ++i) {
    const float y = (right + i * SPARSE_COLUMNS)[lane];
#pragma clang loop unroll(full)
    for (int n = 0; n < N; ++n) sum[n] = fma(left[i * SPARSE_OUTER_ROWS + n], y, sum[n]);
  }
#pragma clang loop unroll(full)
  for (int n = 0; n < N; ++n) {
    device float* to = sums + n * row_size;
    if (inside) to[lane] = first ? sum[n] : to[lane] + sum[n];
  }
}

// The same for all rows of a block.
METAL_FUNC void outer_rows(
    threadgroup const float* left,
    threadgroup const float* right,
    device float* sums,
    size_t row_size,
    int rows,
    int count,
    bool first,
    bool inside,
    int lane) {
  int row = 0;
  for (; row + SPARSE_VECTORS <= rows; row += SPARSE_VECTORS) {
    outer_tile<SPARSE_VECTORS>(
        left + row, right, sums + row * row_size, row_size, count, first, inside, lane);
  }
  for (; row + 4 <= rows; row += 4) {
    outer_tile<4>(left + row, right, sums + row * row_size, row_size, count, first, inside, lane);
  }
  for (; row < rows; ++row) {
    outer_tile<1>(left + row, right, sums + row * row_size, row_size, count, first, inside, lane);
  }
}

// A SIMD-group for each row of the result and each range of rows of one group's matrix, or for the
// matrices of several groups. Its blocks of `a` serve all columns of `b`, 64 at a time.
template <typename T>
[[kernel]] void sparse_outer(
    constant ProductSizes& sizes [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    device const int* a_idx [[buffer(3)]],
    device const int* b_idx [[buffer(4)]],
    device const int* order [[buffer(6)]],
    device float* sums [[buffer(7)]],
    device T* out [[buffer(8)]],
    uint2 position [[threadgroup_position_in_grid]],
    uint thread_lane [[thread_index_in_simdgroup]]) {
  threadgroup float left[SPARSE_OUTER_ENTRIES][SPARSE_OUTER_ROWS];
  threadgroup float right[SPARSE_OUTER_ENTRIES + 1][SPARSE_COLUMNS];  // read beyond the last column
  threadgroup int a_rows[SPARSE_OUTER_ENTRIES];
  threadgroup int b_rows[SPARSE_OUTER_ENTRIES];
  const int lane = thread_lane;
  const int down = tiles(sizes.m, SPARSE_OUTER_ROWS);
  const int first_row = position.x % down * SPARSE_OUTER_ROWS;
  const int g = position.x / down * sizes.bundle;
  const int groups = min(sizes.groups - g, sizes.bundle);
  const int rows = min(sizes.m - first_row, SPARSE_OUTER_ROWS);
  const int all_rows = (groups - 1) * sizes.m + rows;
  const int target = position.y;
  const size_t offset = ((size_t(target) * sizes.groups + g) * sizes.m + first_row) * sizes.c;
  device const int* entries = order + sizes.parts + 1;
  a += size_t(g) * sizes.m + first_row;
  b += size_t(g) * sizes.c;
  sums += offset;
  out += offset;

  const int begin = order[target], end = order[target + 1];
  // Rows without entries have one block, which is empty.
  for (int place = begin; place < max(end, begin + 1); place += SPARSE_OUTER_ENTRIES) {
    const int count = min(end - place, SPARSE_OUTER_ENTRIES);
    for (int i = 0; i < count; i += 32) {
      look_up(a_idx, sizes.a_step, entries + place + i, a_rows + i, count - i, lane);
      look_up(b_idx, sizes.b_step, entries + place + i, b_rows + i, count - i, lane);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    load_block(a, size_t(sizes.groups) * sizes.m, a_rows, left, count, all_rows, lane);
    for (int column = 0; column < sizes.c; column += SPARSE_COLUMNS) {
      const int columns = min(sizes.c - column, SPARSE_COLUMNS);
      load_block(
          b + column, size_t(sizes.groups) * sizes.c, b_rows, right, count,
          (groups - 1) * sizes.c + columns, lane);
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (int q = 0; q < groups; ++q) {
        for (int start = 0; start < columns; start += 32) {
          outer_rows(
              left[0] + q * sizes.m, right[0] + q * sizes.c + start,
              sums + size_t(q) * sizes.m * sizes.c + column + start, sizes.c, rows, count,
              place == begin, start + lane < columns, lane);
        }
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  if (!is_same_v<T, float>) {
    simdgroup_barrier(mem_flags::mem_device);
    for (size_t i = lane; i < size_t(all_rows) * sizes.c; i += 32) out[i] = T(sums[i]);
  }
}

#define instantiate_products(name, type)                                            \
  instantiate_kernel("sparse_multiply_" #name, sparse_multiply, type, false)        \
  instantiate_kernel("sparse_multiply_transposed_" #name, sparse_multiply, type, true) \
  instantiate_kernel("sparse_outer_" #name, sparse_outer, type)

instantiate_products(float32, float)
instantiate_products(float16, half)
instantiate_products(bfloat16, bfloat16_t)
