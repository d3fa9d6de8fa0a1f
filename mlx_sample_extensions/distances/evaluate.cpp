// Evaluation of distances of all pairs by kernels.
#include <algorithm>

#include "distances/primitives.h"
#include "distances/sizes.h"
#include "evaluation.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

// Transposes points (B, N, D) to (B, D, N), in memory that the stream keeps.
mx::array by_coordinates(const mx::array& points, mx::Stream s) {
  return mx::contiguous_copy_gpu(mx::swapaxes_in_eval(points, 1, 2), s);
}

// Rows of a block: many, so that there are few partial sums, but few enough that there are many
// blocks.
int rows_of_block(int rows, int columns) {
  constexpr int kBlocks = 512;
  int across = mx::ceildiv(columns, DISTANCE_COLUMNS);
  int wanted = std::clamp(rows * across / kBlocks, 2 * DISTANCE_TILE_ROWS, 256);
  return mx::ceildiv(wanted, DISTANCE_TILE_ROWS) * DISTANCE_TILE_ROWS;
}

// Adds up the parts of a gradient to `out`, of shape (B, N, D).
void add_up(const mx::array& parts, int count, mx::array& out, bool by_coordinates, mx::Stream s) {
  KernelCall(find_kernel("pairwise_add_parts", s), s)
      .bytes(PartSizes{out.shape(1), out.shape(2), count, by_coordinates})
      .in(parts)
      .out(out)
      .run(size_t(out.shape(1)) * out.shape(2), out.shape(0));
}

// The gradient of one side's points a, where d and g are (B, a's points, b's points), or turned.
// Enough threadgroups for a device with memory of its own.
void row_gradient(const mx::array& a, const mx::array& b, const mx::array& d, const mx::array& g,
                  Metric metric, bool is_turned, mx::array& out, mx::Stream s) {
  const int batch = a.shape(0), rows = a.shape(1), columns = b.shape(1), dims = a.shape(2);
  const bool are_few = dims <= DISTANCE_FEW_DIMS;
  const int block_rows = are_few ? DISTANCE_THREADS : DISTANCE_WIDE_ROWS;
  const size_t down = mx::ceildiv(rows, block_rows);
  const size_t deep = batch * mx::ceildiv(dims, DISTANCE_WIDE_DIMS);
  constexpr size_t kBlocks = 1024;
  constexpr int kTile = 32;
  const size_t chunks = std::clamp<size_t>(kBlocks / (down * deep), 1, mx::ceildiv(columns, kTile));
  const int chunk = mx::ceildiv(mx::ceildiv(columns, chunks), kTile) * kTile;
  const int count = mx::ceildiv(columns, chunk);
  auto parts = temporary({batch, count, rows, dims}, mx::float32, s);
  KernelCall(find_kernel(are_few ? "pairwise_row_gradient_few" : "pairwise_row_gradient_wide", s,
                         {static_cast<int>(metric), 0, false, false, is_turned}),
             s)
      .bytes(RowGradientSizes{rows, columns, dims, chunk})
      .in(a)
      .in(b)
      .in(d)
      .in(g)
      .out(parts)
      .run_threadgroups(down, count, deep);
  add_up(parts, count, out, false, s);
}

}  // namespace

// One kernel serves both devices.
void PairwiseDistance::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  eval_gpu(inputs, outputs);
}

void PairwiseDistance::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  auto& out = outputs[0];
  if (out.size() == 0) {
    return;
  }
  DistanceSizes sizes{out.shape(1), out.shape(2), inputs[0].shape(2)};
  auto others = by_coordinates(inputs[1], stream());
  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(find_kernel("pairwise_distance_" + mx::type_to_name(out),
                                                 stream(), {static_cast<int>(metric_)}));
  encoder.set_bytes(sizes, 0);
  encoder.set_input_array(inputs[0], 1);
  encoder.set_input_array(others, 2);
  encoder.set_output_array(out, 3);
  encoder.dispatch_threads(
      MTL::Size(out.shape(2), mx::ceildiv(out.shape(1), DISTANCE_ROWS), out.shape(0)),
      MTL::Size(256, 1, 1));
}

void PairwiseGradient::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  eval_gpu(inputs, outputs);
}

void PairwiseGradient::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  auto& a = inputs[0];
  auto& b = inputs[1];
  const int batch = a.shape(0), rows = a.shape(1), columns = b.shape(1), dims = a.shape(2);
  if (batch == 0 || dims == 0) {
    return;
  }
  if (has_own_memory(stream().device) && rows > 0 && columns > 0) {
    if (by_a_) row_gradient(a, b, inputs[2], inputs[3], metric_, false, outputs[0], stream());
    if (by_b_) row_gradient(b, a, inputs[2], inputs[3], metric_, true, outputs[by_a_], stream());
    return;
  }
  const int block_rows = rows_of_block(rows, columns);
  const int across = mx::ceildiv(columns, DISTANCE_COLUMNS);
  const int down = mx::ceildiv(rows, block_rows);
  auto parts = [&](bool wanted, int count, int points) {
    return temporary(wanted ? mx::Shape{batch, count, points, dims} : mx::Shape{1}, mx::float32,
                     stream());
  };
  auto of_rows = parts(by_a_, across, rows);
  auto of_columns = parts(by_b_, down, columns);
  const int few_dims = dims <= DISTANCE_FEW_DIMS ? dims : 0;
  auto others = by_coordinates(b, stream());
  auto kernel = find_kernel("pairwise_gradient", stream(),
                            {static_cast<int>(metric_), few_dims, by_a_, by_b_});
  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_bytes(GradientSizes{rows, columns, dims, block_rows}, 0);
  encoder.set_input_array(a, 1);
  encoder.set_input_array(others, 2);
  encoder.set_input_array(inputs[2], 3);
  encoder.set_input_array(inputs[3], 4);
  encoder.set_output_array(of_rows, 5);
  encoder.set_output_array(of_columns, 6);
  encoder.dispatch_threadgroups(
      MTL::Size(across, down, size_t(batch) * mx::ceildiv(dims, DISTANCE_GRADIENT_DIMS)),
      MTL::Size(32, 1, 1));
  if (by_a_) {
    add_up(of_rows, across, outputs[0], false, stream());
  }
  if (by_b_) {
    add_up(of_columns, down, outputs[by_a_], true, stream());
  }
}

}  // namespace mlx_sample
