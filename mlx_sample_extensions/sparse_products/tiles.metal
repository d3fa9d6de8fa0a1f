// Kernels of sums of indexed products for devices that need many threads. The entries are sorted by
// matrix. Threadgroups compute tiles of results for windows of consecutive entries, without atomics:
// sums are reproducible.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "sparse_products/sizes.h"

using namespace metal;

#include "sparse_products/rows.h"

constant constexpr int kRows = TILE_GROUPS * TILE_ROWS;
constant constexpr int kThreads = TILE_GROUPS * 32;

// The matrix whose entries include the one at this place of the order.
METAL_FUNC int matrix_at(device const int* offsets, int matrices, int place) {
  int low = 0;
  int high = matrices - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle + 1] > place) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// ---- matrices times vectors ----

// Copies terms [c, c + depth) of a matrix's columns to panel[term][column].
template <typename T, bool transposed>
METAL_FUNC void copy_panel(
    device const T* matrix,
    threadgroup float (*panel)[TILE_COLUMNS + 1],
    int columns,
    int depth,
    constant const TileSizes& sizes,
    int member) {
  if (transposed) {
    const int column = member % TILE_COLUMNS;
    for (int i = member / TILE_COLUMNS; i < depth; i += kThreads / TILE_COLUMNS) {
      panel[i][column] = column < columns ? float(matrix[size_t(i) * sizes.m + column]) : 0.0f;
    }
  } else {
    const int i = member % TILE_DEPTH;
    for (int column = member / TILE_DEPTH; column < TILE_COLUMNS;
         column += kThreads / TILE_DEPTH) {
      const bool inside = column < columns && i < depth;
      panel[i][column] = inside ? float(matrix[size_t(column) * sizes.c + i]) : 0.0f;
    }
  }
}

// Adds the products of rows [first, first + rows) of the block with the panel.
METAL_FUNC void multiply_rows(
    threadgroup const float (*block)[TILE_DEPTH + 4],
    threadgroup const float (*panel)[TILE_COLUMNS + 1],
    int first,
    int depth,
    uint active,
    thread float (&sums)[TILE_ROWS][2],
    int lane) {
  if (active == (1u << TILE_ROWS) - 1) {
    for (int i = 0; i < depth; ++i) {
      const float left = panel[i][lane];
      const float right = panel[i][lane + 32];
#pragma clang loop unroll(full)
      for (int n = 0; n < TILE_ROWS; ++n) {
        const float x = block[first + n][i];
        sums[n][0] = fma(x, left, sums[n][0]);
        sums[n][1] = fma(x, right, sums[n][1]);
      }
    }
    return;
  }
#pragma clang loop unroll(full)
  for (int n = 0; n < TILE_ROWS; ++n) {
    if (active >> n & 1) {
      for (int i = 0; i < depth; ++i) {
        const float x = block[first + n][i];
        sums[n][0] = fma(x, panel[i][lane], sums[n][0]);
        sums[n][1] = fma(x, panel[i][lane + 32], sums[n][1]);
      }
    }
  }
}

// The rows n of a SIMD-group, as bits, whose places lie in [start, stop).
METAL_FUNC uint rows_between(int first, int start, int stop) {
  const uint from_start = ~0u << clamp(start - first, 0, TILE_ROWS);
  const uint from_stop = ~0u << clamp(stop - first, 0, TILE_ROWS);
  return from_start & ~from_stop;
}

// products[t, g, m] for each entry t: a threadgroup for each window of kRows entries, group and tile
// of columns m.
template <typename T, bool transposed>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void tile_multiply(
    constant const TileSizes& sizes [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    device const int* b_idx [[buffer(3)]],
    device const int* order [[buffer(4)]],
    device const int* offsets [[buffer(5)]],
    device float* products [[buffer(6)]],
    uint2 position [[threadgroup_position_in_grid]],
    uint thread_number [[thread_index_in_threadgroup]]) {
  threadgroup float panel[TILE_DEPTH][TILE_COLUMNS + 1];
  threadgroup float block[kRows][TILE_DEPTH + 4];
  threadgroup int entries[kRows];
  threadgroup int vectors[kRows];
  const int member = thread_number, lane = member % 32;
  const int g = position.y % sizes.groups;
  const int first_column = int(position.y) / sizes.groups * TILE_COLUMNS;
  const int columns = min(sizes.m - first_column, TILE_COLUMNS);
  const int begin = position.x * kRows, end = min(begin + kRows, sizes.entries);
  const int first_row = member / 32 * TILE_ROWS;
  const size_t matrix_size = size_t(sizes.m) * sizes.c;
  a += g * matrix_size + size_t(first_column) * (transposed ? 1 : sizes.c);
  if (member < end - begin) {
    entries[member] = order[begin + member];
    vectors[member] = row_of(b_idx, sizes.b_step, order[begin + member]);
  }
  const int first_matrix = matrix_at(offsets, sizes.matrices, begin);
  float sums[TILE_ROWS][2] = {};
  for (int c = 0; c < sizes.c; c += TILE_DEPTH) {
    const int depth = min(sizes.c - c, TILE_DEPTH);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int row = member / TILE_DEPTH; row < end - begin; row += kThreads / TILE_DEPTH) {
      const int i = member % TILE_DEPTH;
      const size_t vector = (size_t(vectors[row]) * sizes.groups + g) * sizes.c;
      if (i < depth) block[row][i] = float(b[vector + c + i]);
    }
    int matrix = first_matrix;
    for (int start = begin; start < end; ++matrix) {
      const int stop = min(offsets[matrix + 1], end);
      if (stop <= start) continue;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      copy_panel<T, transposed>(
          a + size_t(matrix) * sizes.groups * matrix_size + size_t(c) * (transposed ? sizes.m : 1),
          panel, columns, depth, sizes, member);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint active = rows_between(begin + first_row, start, stop);
      if (active != 0) multiply_rows(block, panel, first_row, depth, active, sums, lane);
      start = stop;
    }
  }
#pragma clang loop unroll(full)
  for (int n = 0; n < TILE_ROWS; ++n) {
    const int row = first_row + n;
    if (begin + row < end) {
      const size_t to = (size_t(entries[row]) * sizes.groups + g) * sizes.m + first_column;
      if (lane < columns) products[to + lane] = sums[n][0];
      if (lane + 32 < columns) products[to + lane + 32] = sums[n][1];
    }
  }
}

// ---- outer products of vectors ----

// Copies elements [0, length) of the rows of consecutive entries of one group.
template <typename T>
METAL_FUNC void copy_vectors(
    device const T* from,
    size_t row_size,
    device const int* indices,
    int step,
    device const int* entries,
    threadgroup float (*block)[TILE_COLUMNS],
    int count,
    int length,
    int member) {
  const int column = member % TILE_COLUMNS;
  for (int i = member / TILE_COLUMNS; i < count; i += kThreads / TILE_COLUMNS) {
    const size_t row = row_of(indices, step, entries[i]);
    block[i][column] = column < length ? float(from[row * row_size + column]) : 0.0f;
  }
}

// Sums over windows of entries: a threadgroup for each window, group and tile of a matrix. A matrix
// whose entries lie in one window is written to `out`. Otherwise `tails` gets the sum in the window
// in which they begin, whose number of the matrix `crossing` gets (or -1), and `heads` the sums in
// the windows that follow.
template <typename T>
[[kernel, max_total_threads_per_threadgroup(kThreads)]] void tile_outer(
    constant const TileSizes& sizes [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    device const int* a_idx [[buffer(3)]],
    device const int* b_idx [[buffer(4)]],
    device const int* order [[buffer(5)]],
    device const int* offsets [[buffer(6)]],
    device T* out [[buffer(7)]],
    device float* heads [[buffer(8)]],
    device float* tails [[buffer(9)]],
    device int* crossing [[buffer(10)]],
    uint2 position [[threadgroup_position_in_grid]],
    uint thread_number [[thread_index_in_threadgroup]]) {
  threadgroup float left[TILE_DEPTH][TILE_COLUMNS];
  threadgroup float right[TILE_DEPTH][TILE_COLUMNS];
  const int member = thread_number, lane = member % 32;
  const int across = (sizes.c + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const int g = position.y % sizes.groups;
  const int tile = position.y / sizes.groups;
  const int m = tile / across * kRows, c = tile % across * TILE_COLUMNS;
  const int rows = min(sizes.m - m, kRows), columns = min(sizes.c - c, TILE_COLUMNS);
  const int window = position.x;
  const int begin = window * sizes.window, end = min(begin + sizes.window, sizes.entries);
  const int first_row = member / 32 * TILE_ROWS;
  const size_t result_size = size_t(sizes.groups) * sizes.m * sizes.c;
  const size_t offset = (size_t(g) * sizes.m + m) * sizes.c + c;
  a += size_t(g) * sizes.m + m;
  b += size_t(g) * sizes.c + c;

  int crosses = -1;
  int matrix = matrix_at(offsets, sizes.matrices, begin);
  for (int start = begin; start < end; ++matrix) {
    const int stop = min(offsets[matrix + 1], end);
    if (stop <= start) continue;
    float sums[TILE_ROWS][2] = {};
    for (int place = start; place < stop; place += TILE_DEPTH) {
      const int count = min(stop - place, TILE_DEPTH);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      copy_vectors(a, size_t(sizes.groups) * sizes.m, a_idx, sizes.a_step, order + place, left,
                   count, rows, member);
      copy_vectors(b, size_t(sizes.groups) * sizes.c, b_idx, sizes.b_step, order + place, right,
                   count, columns, member);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (first_row >= rows) continue;
      for (int i = 0; i < count; ++i) {
        const float x = right[i][lane];
        const float y = right[i][lane + 32];
#pragma clang loop unroll(full)
        for (int n = 0; n < TILE_ROWS; ++n) {
          const float w = left[i][first_row + n];
          sums[n][0] = fma(w, x, sums[n][0]);
          sums[n][1] = fma(w, y, sums[n][1]);
        }
      }
    }
    const bool is_head = offsets[matrix] < begin;
    const bool is_tail = !is_head && offsets[matrix + 1] > end;
    if (is_tail) crosses = matrix;
#pragma clang loop unroll(full)
    for (int n = 0; n < TILE_ROWS; ++n) {
      if (first_row + n >= rows) continue;
#pragma clang loop unroll(full)
      for (int half_row = 0; half_row < 2; ++half_row) {
        const int column = lane + half_row * 32;
        if (column >= columns) continue;
        const size_t at = offset + size_t(first_row + n) * sizes.c + column;
        if (is_head) {
          heads[window * result_size + at] = sums[n][half_row];
        } else if (is_tail) {
          tails[window * result_size + at] = sums[n][half_row];
        } else {
          out[matrix * result_size + at] = T(sums[n][half_row]);
        }
      }
    }
    start = stop;
  }
  if (position.y == 0 && member == 0) crossing[window] = crosses;
}

// Adds up the parts of matrices whose entries cross windows: a thread for each element and window.
template <typename T>
[[kernel]] void tile_join(
    constant const TileSizes& sizes [[buffer(0)]],
    device const int* offsets [[buffer(1)]],
    device const float* heads [[buffer(2)]],
    device const float* tails [[buffer(3)]],
    device const int* crossing [[buffer(4)]],
    device T* out [[buffer(5)]],
    uint2 place [[thread_position_in_grid]]) {
  const int matrix = crossing[place.y];
  if (matrix < 0) return;
  const size_t result_size = size_t(sizes.groups) * sizes.m * sizes.c;
  float sum = tails[place.y * result_size + place.x];
  const int end = offsets[matrix + 1];
  for (int window = place.y + 1; window * sizes.window < end; ++window) {
    sum += heads[window * result_size + place.x];
  }
  out[matrix * result_size + place.x] = T(sum);
}

// Matrices without entries become zero: a thread for each element and matrix.
template <typename T>
[[kernel]] void tile_clear(
    constant const TileSizes& sizes [[buffer(0)]],
    device const int* offsets [[buffer(1)]],
    device T* out [[buffer(2)]],
    uint2 place [[thread_position_in_grid]]) {
  if (offsets[place.y + 1] > offsets[place.y]) return;
  out[place.y * size_t(sizes.groups) * sizes.m * sizes.c + place.x] = T(0);
}

#define instantiate_tiles(name, type)                                          \
  instantiate_kernel("tile_multiply_" #name, tile_multiply, type, false)           \
  instantiate_kernel("tile_multiply_transposed_" #name, tile_multiply, type, true) \
  instantiate_kernel("tile_outer_" #name, tile_outer, type)                    \
  instantiate_kernel("tile_join_" #name, tile_join, type)                      \
  instantiate_kernel("tile_clear_" #name, tile_clear, type)

instantiate_tiles(float32, float)
instantiate_tiles(float16, half)
instantiate_tiles(bfloat16, bfloat16_t)
