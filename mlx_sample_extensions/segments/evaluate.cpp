// Evaluation of the primitives of segments with kernels.
#include "segments/evaluate.h"

#include <algorithm>

#include "evaluation.h"
#include "mlx/backend/metal/utils.h"
#include "segments/sizes.h"

namespace mlx_sample {

namespace {

struct Constants {
  int reduction = 0;
  bool listed = false;
  bool mean = false;
  bool moved = false;
  int columns = 0;  // if the kernel's threads are assigned by column
};

// With so few columns, a SIMD-group processes several rows at once.
bool are_few(int columns) { return columns > 0 && columns < 32; }

// Columns of a thread: as many as still give every lane of a SIMD-group columns of one row.
int width_of(int columns) {
  int width = SEGMENT_WIDTH;
  while (width > 1 && (columns % width != 0 || columns < 32 * width)) {
    width /= 2;
  }
  return width;
}

SegmentSizes sizes_of(const Segments& segments, int rows, int columns) {
  // With few columns a SIMD-group processes some thousand values.
  int chunk = are_few(columns) ? std::clamp(4096 / columns, 256, 1024) : 256;
  return {segments.count(), rows, columns, chunk, std::max(1, (rows + chunk - 1) / chunk)};
}

// Threads for all chunks.
size_t threads_of(const SegmentSizes& sizes) {
  int width = width_of(sizes.columns);
  return size_t(sizes.chunks) * (are_few(sizes.columns) ? 32 : sizes.columns / width);
}

KernelCall call(const std::string& kernel, const Constants& c, const SegmentSizes& sizes,
                mx::Stream s) {
  int few = are_few(c.columns) ? c.columns : 0;
  KernelCall result(find_kernel(kernel, s,
                                {c.reduction, c.listed, c.mean, c.moved, width_of(c.columns), few,
                                 has_own_memory(s.device)}),
                    s);
  result.bytes(sizes);
  return result;
}

// The listed rows; any array if the rows are not listed.
const mx::array& rows_of(const Segments& segments) {
  return segments.rows ? *segments.rows : segments.offsets;
}

// The kernels that move a type's elements, and compute with them if the type is supported.
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

void run_reduction(Reduction reduction, const mx::array& x, const mx::array* extremum,
                   const Segments& segments, int rows, mx::array& out, mx::Stream s) {
  auto sizes = sizes_of(segments, rows, x.shape(1));
  std::string type = mx::type_to_name(x);
  if (!extremum && out.dtype() != x.dtype()) type += "_" + mx::type_to_name(out);
  auto dtype = mx::issubdtype(out.dtype(), mx::inexact) ? mx::float32 : out.dtype();
  auto heads = temporary({sizes.chunks, sizes.columns}, dtype, s);
  auto tails = temporary({sizes.chunks, sizes.columns}, dtype, s);
  auto crossing = temporary({sizes.chunks}, mx::int32, s);
  Constants constants{static_cast<int>(reduction), segments.rows.has_value()};
  constants.columns = sizes.columns;
  call((extremum ? "segment_parts_ties_" : "segment_parts_") + type, constants, sizes, s)
      .in(x)
      .in(extremum ? *extremum : x)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(out)
      .out(heads)
      .out(tails)
      .out(crossing)
      .run(threads_of(sizes));
  constants.columns = 0;
  const std::string joined = extremum ? "ties" : mx::type_to_name(out);
  call("segment_join_" + joined, constants, sizes, s)
      .in(segments.offsets)
      .out(out)
      .in(heads)
      .in(tails)
      .in(crossing)
      .run(size_t(sizes.chunks) * sizes.columns);
}

// One kernel serves both devices.
void SegmentReduce::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }
void SegmentSpread::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }
void SegmentShare::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }
void SegmentOthers::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }

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
  Constants constants{0, segments.rows.has_value(), mean_, false, sizes.columns};
  call("segment_spread_" + spread_type(g), constants, sizes, stream())
      .in(g)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(outputs[0])
      .run(rows_ == 0 ? 0 : threads_of(sizes));
}

void SegmentShare::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  auto& y = inputs[1];
  allocate(outputs[0]);
  auto segments = segments_of(inputs);
  auto counts = temporary(y.shape(), mx::float32, stream());
  run_reduction(Reduction::Sum, x, &y, segments, x.shape(0), counts, stream());
  auto sizes = sizes_of(segments, x.shape(0), x.shape(1));
  Constants constants{0, segments.rows.has_value(), false, false, sizes.columns};
  call("segment_share_" + mx::type_to_name(x), constants, sizes, stream())
      .in(x)
      .in(y)
      .in(inputs[2])
      .in(counts)
      .in(segments.offsets)
      .in(rows_of(segments))
      .out(outputs[0])
      .run(x.shape(0) == 0 ? 0 : threads_of(sizes));
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
