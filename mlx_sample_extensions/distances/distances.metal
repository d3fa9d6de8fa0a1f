// Kernels of distances between all pairs of points.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "distances/sizes.h"

constant int metric [[function_constant(0)]];  // 0 euclidean, 1 squared_euclidean, 2 manhattan
constant int few_dims [[function_constant(1)]];  // the number of coordinates, or 0: any
constant bool by_rows [[function_constant(2)]];  // which gradients are wanted
constant bool by_columns [[function_constant(3)]];

// A thread computes a few rows of one column; neighbouring threads have neighbouring columns. The
// points of the columns are stored by coordinate: b[k * columns + j].
template <typename T>
[[kernel]] void pairwise_distance(
    constant const DistanceSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    device T* out [[buffer(3)]],
    uint3 at [[thread_position_in_grid]]) {
  const int first = at.y * DISTANCE_ROWS;
  a += (int64_t(at.z) * sizes.rows + first) * sizes.dims;
  b += int64_t(at.z) * sizes.columns * sizes.dims + at.x;
  out += (int64_t(at.z) * sizes.rows + first) * sizes.columns + at.x;
  const int rows = metal::min(DISTANCE_ROWS, sizes.rows - first);
  float sums[DISTANCE_ROWS] = {};
  for (int k = 0; k < sizes.dims; ++k) {
    const float other = b[int64_t(k) * sizes.columns];
#pragma clang loop unroll(full)
    for (int r = 0; r < DISTANCE_ROWS; ++r) {
      const float difference = a[metal::min(r, rows - 1) * sizes.dims + k] - other;
      sums[r] = metric == 2 ? sums[r] + metal::abs(difference)
                            : metal::fma(difference, difference, sums[r]);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < DISTANCE_ROWS; ++r) {
    if (r < rows) {
      out[int64_t(r) * sizes.columns] = T(metric == 0 ? metal::sqrt(sums[r]) : sums[r]);
    }
  }
}

// The factor of the pair's difference in the gradient, or of its signs.
METAL_FUNC float weight(float distance, float g) {
  if (metric == 0) return distance > 0 ? g / distance : 0.0f;
  return metric == 1 ? 2 * g : g;
}

METAL_FUNC float pull(float w, float difference) {
  return w * (metric == 2 ? metal::sign(difference) : difference);
}

// Two rows of a tile in up to DISTANCE_DIMS coordinates: a lane processes every 32nd column.
struct TileRows {
  const device float* a;  // coordinates of the first row, and of the second
  const device float* other_a;
  const device float* b;  // of the columns, by coordinates: b[k * columns + j]
  int columns;            // of all
  int width;              // columns of the tile
  int count;              // coordinates
  int lane;

  // Adds to the columns' sums; returns in sums[r][k] the sum of row r in coordinate k.
  METAL_FUNC void add(
      const threadgroup float* weights,
      thread float (&sums)[2][DISTANCE_DIMS],
      device float* of_columns) const {
    for (int j = lane; j < width; j += 32) {
      const float w = weights[j];
      const float other_w = (weights + DISTANCE_COLUMNS)[j];
#pragma clang loop unroll(full)
      for (int k = 0; k < DISTANCE_DIMS; ++k) {
        if (k >= count) continue;
        const float y = b[int64_t(k) * columns + j];
        const float own = pull(w, a[k] - y);
        const float other = pull(other_w, other_a[k] - y);
        sums[0][k] += own;
        sums[1][k] += other;
        if (by_columns) of_columns[int64_t(k) * columns + j] -= own + other;
      }
    }
  }
};

// The gradients of sum(g * d): a SIMD-group for each block of rows and columns and for some of the
// coordinates. It adds up the block's part of the gradient of each row's point and of each column's
// point. Weights are computed once for a tile, a few rows of the block.
[[kernel]] void pairwise_gradient(
    constant const GradientSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    const device float* d [[buffer(3)]],
    const device float* g [[buffer(4)]],
    device float* of_rows [[buffer(5)]],     // [block of columns][row][coordinate]
    device float* of_columns [[buffer(6)]],  // [block of rows][coordinate][column]
    uint3 block [[threadgroup_position_in_grid]],
    uint3 blocks [[threadgroups_per_grid]],
    uint thread_lane [[thread_index_in_simdgroup]]) {
  threadgroup float weights[DISTANCE_TILE_ROWS * DISTANCE_COLUMNS];
  const int lane = thread_lane;
  const int all_dims = few_dims > 0 ? few_dims : sizes.dims;
  const int parts = (all_dims + DISTANCE_GRADIENT_DIMS - 1) / DISTANCE_GRADIENT_DIMS;
  const int64_t batch = block.z / parts;
  const int base = block.z % parts * DISTANCE_GRADIENT_DIMS;
  const int dims = metal::min(DISTANCE_GRADIENT_DIMS, all_dims - base);
  const int first_column = block.x * DISTANCE_COLUMNS;
  const int width = metal::min(DISTANCE_COLUMNS, sizes.columns - first_column);
  const int first_row = block.y * sizes.block_rows;
  const int last_row = metal::min(first_row + sizes.block_rows, sizes.rows);
  a += batch * sizes.rows * all_dims + base;
  b += (batch * all_dims + base) * sizes.columns + first_column;
  d += batch * sizes.rows * sizes.columns + first_column;
  g += batch * sizes.rows * sizes.columns + first_column;
  of_rows += (batch * blocks.x + block.x) * sizes.rows * all_dims + base;
  of_columns += ((batch * blocks.y + block.y) * all_dims + base) * sizes.columns + first_column;

  for (int k = 0; by_columns && k < dims; ++k) {
    for (int j = lane; j < width; j += 32) of_columns[int64_t(k) * sizes.columns + j] = 0;
  }
  for (int top = first_row; top < last_row; top += DISTANCE_TILE_ROWS) {
    const int rows = metal::min(DISTANCE_TILE_ROWS, last_row - top);
    for (int r = 0; r < rows + rows % 2; ++r) {
      const int64_t at = int64_t(top + r) * sizes.columns;
      for (int j = lane; j < width; j += 32) {
        (weights + r * DISTANCE_COLUMNS)[j] = r < rows ? weight(d[at + j], g[at + j]) : 0;
      }
    }
    for (int k = 0; k < dims; k += DISTANCE_DIMS) {
      for (int r = 0; r < rows; r += 2) {
        const int64_t row = int64_t(top + r) * all_dims + k;
        const int64_t other_row = int64_t(metal::min(top + r + 1, last_row - 1)) * all_dims + k;
        const TileRows tile = {
            a + row, a + other_row, b + int64_t(k) * sizes.columns, sizes.columns, width,
            metal::min(DISTANCE_DIMS, dims - k), lane};
        float sums[2][DISTANCE_DIMS] = {};
        tile.add(
            weights + r * DISTANCE_COLUMNS, sums, of_columns + int64_t(k) * sizes.columns);
#pragma clang loop unroll(full)
        for (int i = 0; by_rows && i < 2 * DISTANCE_DIMS; ++i) {
          const float sum = metal::simd_sum(sums[i / DISTANCE_DIMS][i % DISTANCE_DIMS]);
          const bool there = i % DISTANCE_DIMS < tile.count && i / DISTANCE_DIMS < rows - r;
          if (lane == 0 && there) {
            of_rows[int64_t(i < DISTANCE_DIMS ? row : other_row) + i % DISTANCE_DIMS] = sum;
          }
        }
      }
    }
  }
}

// The gradient of the rows' points for devices that need many threads: a threadgroup for each block
// of rows, chunk of columns and part of the coordinates. A thread adds up `Dims` coordinates of `Rows`
// rows, and `Lanes` threads share these rows. With `is_turned`, d and g are columns x rows.
constant bool is_turned [[function_constant(4)]];

template <int Lanes, int Dims, int Rows, int Tile>
struct RowGradient {
  constexpr static constant int kSlots = DISTANCE_THREADS / Lanes;
  constexpr static constant int kRows = kSlots * Rows;
  threadgroup float (*weights)[Tile + 1];  // [row of the block][column of the tile]
  threadgroup float (*points)[Lanes * Dims];
  int slot, lane, member;
  int rows, dims;  // of the block

  METAL_FUNC void load(
      const device float* b,
      const device float* d,
      const device float* g,
      int64_t across,
      int64_t down,
      int all_dims,
      int count) {
    for (int i = member; i < kRows * Tile; i += DISTANCE_THREADS) {
      const int r = is_turned ? i % kRows : i / Tile;
      const int j = is_turned ? i / kRows : i % Tile;
      if (r < rows && j < count) {
        const int64_t at = r * down + j * across;
        weights[r][j] = weight(d[at], g[at]);
      }
    }
    for (int i = member; i < count * Lanes * Dims; i += DISTANCE_THREADS) {
      const int j = i / (Lanes * Dims), k = i % (Lanes * Dims);
      points[j][k] = k < dims ? b[int64_t(j) * all_dims + k] : 0.0f;
    }
  }

  METAL_FUNC void add(
      thread const float (&own)[Rows][Dims], thread float (&sums)[Rows][Dims], int count) {
    for (int j = 0; j < count; ++j) {
      float y[Dims];
#pragma clang loop unroll(full)
      for (int k = 0; k < Dims; ++k) y[k] = points[j][lane + k * Lanes];
#pragma clang loop unroll(full)
      for (int r = 0; r < Rows; ++r) {
        const float w = weights[slot * Rows + r][j];
#pragma clang loop unroll(full)
        for (int k = 0; k < Dims; ++k) sums[r][k] += pull(w, own[r][k] - y[k]);
      }
    }
  }
};

template <int Lanes, int Dims, int Rows, int Tile>
[[kernel, max_total_threads_per_threadgroup(DISTANCE_THREADS)]] void pairwise_row_gradient(
    constant const RowGradientSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    const device float* d [[buffer(3)]],
    const device float* g [[buffer(4)]],
    device float* parts [[buffer(5)]],  // [chunk of columns][row][coordinate]
    uint3 block [[threadgroup_position_in_grid]],
    uint3 blocks [[threadgroups_per_grid]],
    uint thread_number [[thread_index_in_threadgroup]]) {
  using Gradient = RowGradient<Lanes, Dims, Rows, Tile>;
  threadgroup float weights[Gradient::kRows][Tile + 1];
  threadgroup float points[Tile][Lanes * Dims];
  const int of_dims = (sizes.dims + Lanes * Dims - 1) / (Lanes * Dims);
  const int64_t batch = block.z / of_dims;
  const int base = block.z % of_dims * Lanes * Dims;
  const int first_row = block.x * Gradient::kRows;
  const int first_column = block.y * sizes.chunk;
  const int last_column = metal::min(first_column + sizes.chunk, sizes.columns);
  const int member = thread_number;
  Gradient gradient{weights, points, member / Lanes, member % Lanes, member,
                    metal::min(sizes.rows - first_row, Gradient::kRows), sizes.dims - base};
  const int64_t across = is_turned ? sizes.rows : 1;
  const int64_t down = is_turned ? 1 : sizes.columns;
  a += (batch * sizes.rows + first_row) * sizes.dims + base;
  b += batch * sizes.columns * sizes.dims + base;
  d += batch * sizes.rows * sizes.columns + first_row * down;
  g += batch * sizes.rows * sizes.columns + first_row * down;
  parts += ((batch * blocks.y + block.y) * sizes.rows + first_row) * sizes.dims + base;

  float own[Rows][Dims], sums[Rows][Dims] = {};
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows * Dims; ++i) {
    const int row = metal::min(gradient.slot * Rows + i / Dims, gradient.rows - 1);
    const int k = metal::min(gradient.lane + i % Dims * Lanes, gradient.dims - 1);
    own[i / Dims][i % Dims] = a[row * int64_t(sizes.dims) + k];
  }
  for (int column = first_column; column < last_column; column += Tile) {
    const int count = metal::min(last_column - column, Tile);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    gradient.load(b + column * int64_t(sizes.dims), d + column * across, g + column * across,
                  across, down, sizes.dims, count);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    gradient.add(own, sums, count);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows * Dims; ++i) {
    const int row = gradient.slot * Rows + i / Dims;
    const int k = gradient.lane + i % Dims * Lanes;
    if (row < gradient.rows && k < gradient.dims) {
      parts[row * int64_t(sizes.dims) + k] = sums[i / Dims][i % Dims];
    }
  }
}

instantiate_kernel("pairwise_row_gradient_wide", pairwise_row_gradient, 32, DISTANCE_WIDE_DIMS / 32,
                   DISTANCE_WIDE_ROWS / (DISTANCE_THREADS / 32), 32)
instantiate_kernel("pairwise_row_gradient_few", pairwise_row_gradient, 1, DISTANCE_FEW_DIMS, 1, 16)

// Adds up the parts of a gradient. Those of the columns are stored by coordinate.
[[kernel]] void pairwise_add_parts(
    constant const PartSizes& sizes [[buffer(0)]],
    const device float* parts [[buffer(1)]],
    device float* out [[buffer(2)]],
    uint2 at [[thread_position_in_grid]]) {
  const int64_t size = int64_t(sizes.points) * sizes.dims;
  parts += at.y * sizes.count * size + at.x;
  float sum = 0;
  for (int i = 0; i < sizes.count; ++i) sum += parts[i * size];
  const int64_t place =
      sizes.by_coordinates ? at.x % sizes.points * int64_t(sizes.dims) + at.x / sizes.points : at.x;
  out[at.y * size + place] = sum;
}

instantiate_kernel("pairwise_distance_float32", pairwise_distance, float)
instantiate_kernel("pairwise_distance_float16", pairwise_distance, half)
instantiate_kernel("pairwise_distance_bfloat16", pairwise_distance, bfloat16_t)
