// Evaluation of the primitives of segments by kernels on the Metal device.
#include <algorithm>

#include "evaluation.h"
#include "mlx/backend/metal/utils.h"
#include "segments/primitives.h"
#include "segments/sizes.h"

namespace mlx_sample {

namespace {

struct Constants {
  int reduction = 0;
  bool listed = false;
  bool mean = false;
  bool moved = false;
};

SegmentSizes sizes_of(const Segments& segments, int rows, int columns) {
  // Neighbouring threads share a chunk where there are many columns.
  int chunk = columns >= 32 ? 128 : 64;
  return {segments.count(), rows, columns, chunk, std::max(1, (rows + chunk - 1) / chunk)};
}

KernelCall call(const std::string& kernel, const Constants& c, const SegmentSizes& sizes,
                mx::Stream s) {
  KernelCall result(find_kernel(kernel, s, {c.reduction, c.listed, c.mean, c.moved}), s);
  result.bytes(sizes);
  return result;
}

// The listed rows, or anything where they do not count.
const mx::array& rows_of(const Segments& segments) {
  return segments.rows ? *segments.rows : segments.offsets;
}

// Reduces rows x to `out`; or counts the rows that hold the extremum, if it is given.
void run_reduction(Reduction reduction, const mx::array& x, const mx::array* extremum,
                   const Segments& segments, int rows, mx::array& out, mx::Stream s) {
  auto sizes = sizes_of(segments, rows, x.shape(1));
  std::string type = mx::type_to_name(x);
  auto dtype = mx::issubdtype(out.dtype(), mx::inexact) ? mx::float32 : out.dtype();
  auto heads = temporary({sizes.chunks, sizes.columns}, dtype, s);
  auto tails = temporary({sizes.chunks, sizes.columns}, dtype, s);
  Constants constants{static_cast<int>(reduction), segments.rows.has_value()};
  size_t threads = size_t(sizes.chunks) * sizes.columns;
  call((extremum ? "segment_parts_ties_" : "segment_parts_") + type, constants, sizes, s)
      .in(x)
      .in(extremum ? *extremum : x)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(out)
      .out(heads)
      .out(tails)
      .run(threads);
  call("segment_join_" + (extremum ? "ties" : type), constants, sizes, s)
      .in(segments.offsets)
      .out(out)
      .in(heads)
      .in(tails)
      .run(threads);
}

// The kernels that move a type's values, and compute with them if they can.
std::string spread_type(const mx::array& g) {
  switch (g.dtype().val()) {
    case mx::Dtype::Val::bool_:
    case mx::Dtype::Val::int8:
    case mx::Dtype::Val::uint8:
      return "8bit";
    case mx::Dtype::Val::int16:
    case mx::Dtype::Val::uint16:
      return "16bit";
    case mx::Dtype::Val::uint64:
    case mx::Dtype::Val::complex64:
    case mx::Dtype::Val::float64:
      return "64bit";
    default:
      return mx::type_to_name(g);
  }
}

}  // namespace

void SegmentReduce::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  allocate(outputs[0]);
  auto segments = segments_of(inputs);
  int rows = segments.rows ? segments.rows->shape(0) : x.shape(0);
  run_reduction(reduction_, x, nullptr, segments, rows, outputs[0], stream());
}

void SegmentSpread::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& g = inputs[0];
  allocate(outputs[0]);
  auto segments = segments_of(inputs);
  auto sizes = sizes_of(segments, rows_, g.shape(1));
  call("segment_spread_" + spread_type(g), {0, segments.rows.has_value(), mean_}, sizes, stream())
      .in(g)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(outputs[0])
      .run(rows_ == 0 ? 0 : size_t(sizes.chunks) * sizes.columns);
}

void SegmentShare::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  auto& y = inputs[1];
  allocate(outputs[0]);
  auto segments = segments_of(inputs);
  auto counts = temporary(y.shape(), mx::float32, stream());
  run_reduction(Reduction::Sum, x, &y, segments, x.shape(0), counts, stream());
  auto sizes = sizes_of(segments, x.shape(0), x.shape(1));
  call("segment_share_" + mx::type_to_name(x), {0, segments.rows.has_value()}, sizes, stream())
      .in(x)
      .in(y)
      .in(inputs[2])
      .in(counts)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(outputs[0])
      .run(x.shape(0) == 0 ? 0 : size_t(sizes.chunks) * sizes.columns);
}

void SegmentOthers::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  allocate(outputs[0]);
  auto segments = segments_of(inputs);
  auto sizes = sizes_of(segments, x.shape(0), x.shape(1));
  auto before = temporary({x.shape(0), x.shape(1), 2}, mx::float32, stream());
  call("segment_others_" + mx::type_to_name(x), {0, segments.rows.has_value(), false, moved_},
       sizes, stream())
      .in(x)
      .in(inputs[moved_ ? 1 : 0])
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(outputs[0])
      .out(before)
      .run(size_t(sizes.segments) * sizes.columns);
}

}  // namespace mlx_sample
