// Evaluates sums of indexed products on a device with memory of its own, which sorted the entries.
#include <algorithm>
#include <span>
#include <string>
#include <tuple>

#include "evaluation.h"
#include "mlx/backend/metal/utils.h"
#include "segments/evaluate.h"
#include "sparse_products/sizes.h"
#include "sparse_products/sparse_products.h"

namespace mlx_sample {

namespace {

constexpr int kTileRows = TILE_GROUPS * TILE_ROWS;

// Entries of a window of outer products: as many as leave the sums of windows little memory.
int window_of(int entries, size_t result_bytes) {
  constexpr size_t kLeast = 256, kPartBytes = size_t{64} << 20;
  const size_t most_windows = std::max<size_t>(kPartBytes / std::max<size_t>(result_bytes, 1), 1);
  const size_t window = std::max(kLeast, mx::ceildiv(entries, most_windows));
  return static_cast<int>(
      std::min<size_t>(mx::ceildiv(window, TILE_DEPTH) * TILE_DEPTH, INT32_MAX));
}

}  // namespace

// Products of all entries first, then sums of rows.
void SparseProduct::multiply_in_tiles(const Arrays& inputs, mx::array& out) const {
  const auto& [a, b] = std::tie(inputs[0], inputs[1]);
  const auto entries = entries_of(inputs);
  const int count = entries_in(inputs);
  const auto by_row = std::span(inputs).last(2);
  TileSizes sizes{};
  sizes.entries = count;
  sizes.matrices = a.shape(0);
  sizes.groups = out.shape(1);
  sizes.m = out.shape(2);
  sizes.c = b.shape(2);
  sizes.b_step = step_of(entries.b);

  auto products = temporary({count, sizes.groups * sizes.m}, mx::float32, stream());
  if (count > 0) {
    const std::string kernel = transposed() ? "tile_multiply_transposed_" : "tile_multiply_";
    KernelCall(find_kernel(kernel + mx::type_to_name(a), stream()), stream())
        .bytes(sizes)
        .in(a)
        .in(b)
        .in(entries.b ? *entries.b : b)
        .in(entries.by_matrix->order)
        .in(entries.by_matrix->offsets)
        .out(products)
        .run_threadgroups(mx::ceildiv(count, kTileRows),
                          sizes.groups * mx::ceildiv(sizes.m, TILE_COLUMNS));
  }
  run_reduction(Reduction::Sum, products, nullptr, {by_row[1], by_row[0], true}, count, out,
                stream());
}

// Sums of windows first, then of matrices whose entries are in several windows.
void SparseProduct::add_outer_in_tiles(const Arrays& inputs, mx::array& out) const {
  const auto& [a, b] = std::tie(inputs[0], inputs[1]);
  const auto entries = entries_of(inputs);
  const auto& [order, offsets] = *entries.by_matrix;
  const auto type = mx::type_to_name(out);
  const size_t result_size = out.size() / out.shape(0);
  TileSizes sizes{};
  sizes.entries = entries_in(inputs);
  sizes.matrices = n_o_;
  sizes.groups = out.shape(1);
  sizes.m = out.shape(2);
  sizes.c = out.shape(3);
  sizes.window = window_of(sizes.entries, result_size * sizeof(float));
  const auto windows = static_cast<int>(mx::ceildiv(sizes.entries, sizes.window));
  sizes.a_step = step_of(entries.a);
  sizes.b_step = step_of(entries.b);

  KernelCall(find_kernel("tile_clear_" + type, stream()), stream())
      .bytes(sizes)
      .in(offsets)
      .out(out)
      .run(result_size, n_o_);
  if (sizes.entries == 0) return;
  auto heads = temporary({windows, static_cast<int>(result_size)}, mx::float32, stream());
  auto tails = temporary(heads.shape(), mx::float32, stream());
  auto crossing = temporary({windows}, mx::int32, stream());
  const size_t tiles = mx::ceildiv(sizes.m, kTileRows) * mx::ceildiv(sizes.c, TILE_COLUMNS);
  KernelCall(find_kernel("tile_outer_" + type, stream()), stream())
      .bytes(sizes)
      .in(a)
      .in(b)
      .in(entries.a ? *entries.a : order)
      .in(entries.b ? *entries.b : order)
      .in(order)
      .in(offsets)
      .out(out)
      .out(heads)
      .out(tails)
      .out(crossing)
      .run_threadgroups(windows, sizes.groups * tiles);
  KernelCall(find_kernel("tile_join_" + type, stream()), stream())
      .bytes(sizes)
      .in(offsets)
      .in(heads)
      .in(tails)
      .in(crossing)
      .out(out)
      .run(result_size, windows);
}

}  // namespace mlx_sample
