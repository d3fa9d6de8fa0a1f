// Reductions: chooses the order of kept and reduced dimensions, and one pass or two.
#include "mlx/primitives/reduce.h"

#include <algorithm>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/kernels/reduce.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

constexpr const char* kOps[] = {"And", "Or", "Sum", "Prod", "Min", "Max"};
enum Layout { kRow, kColumn, kGeneral };
constexpr const char* kLayouts[] = {"row", "column", "general"};

// Work is not split further than this for each thread.
constexpr size_t kElementsPerSplit = 8192;
constexpr size_t kMaxThreadsWithSplits = 512;

// The column kernels' threads take so many rows each, so that neighbouring threads read the same
// cache lines and pages.
constexpr uint32_t kRowsPerSplit = 16;
constexpr uint32_t kMaxUnsplitRows = 256;

struct Dims {
  Shape shape;
  Strides strides;
};

struct Plan {
  Layout layout;
  ReduceParams params;
  size_t x, y, z;  // grid of outputs, without splits
  size_t work;     // elements per output
};

MTL::ComputePipelineState* reduce_kernel(int op, Layout layout, Dtype in, Dtype out) {
  static KernelTable table(6 * 3 * kDtypes * kDtypes);
  size_t index = ((op * 3 + layout) * kDtypes + dtype_index(in)) * kDtypes + dtype_index(out);
  return table.get(index, [&] {
    return kernel_name(kOps[op], kLayouts[layout], type_name(in), type_name(out));
  });
}

bool is_half(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

// Conversions that the kernels do while they reduce.
bool reads_directly(int op, Dtype in, Dtype out) {
  if (in == out) {
    return true;
  }
  if (op != Reduce::Sum && op != Reduce::Prod) {
    return false;
  }
  bool narrow_unsigned = in == uint8 || in == uint16;
  bool narrow_signed = in == bool_ || in == int8 || in == int16;
  return (is_half(in) && out == float32) || (narrow_unsigned && (out == int32 || out == uint32)) ||
         (narrow_signed && out == int32);
}

// Chooses the innermost reduced dimension: a contiguous one if there is one.
void split_inner(Dims& reduced, ReduceParams& p) {
  p.inner = 1;
  p.outer = 1;
  if (reduced.shape.empty()) {
    return;
  }
  size_t inner = reduced.shape.size() - 1;
  for (size_t d = 0; d < reduced.shape.size(); ++d) {
    if (reduced.strides[d] == 1) {
      inner = d;
    }
  }
  p.inner = reduced.shape[inner];
  p.inner_stride = reduced.strides[inner];
  reduced.shape.erase(reduced.shape.begin() + inner);
  reduced.strides.erase(reduced.strides.begin() + inner);
  p.outer_ndim = static_cast<int32_t>(reduced.shape.size());
  for (int d = 0; d < p.outer_ndim; ++d) {
    p.outer_shape[d] = reduced.shape[d];
    p.outer_stride[d] = reduced.strides[d];
    p.outer *= reduced.shape[d];
  }
}

Dims collapse(const Dims& dims) {
  auto [shape, strides] = collapse_contiguous_dims(dims.shape, dims.strides);
  return {std::move(shape), std::move(strides)};
}

Plan make_plan(const Dims& kept, Dims reduced) {
  Plan plan{};
  auto& p = plan.params;
  size_t lengths[4] = {1, 1, 1, 1};
  for (size_t d = 0; d < kept.shape.size(); ++d) {
    size_t from = kept.shape.size() - 1 - d;
    lengths[d] = kept.shape[from];
    p.kept_stride[d] = kept.strides[from];
  }
  split_inner(reduced, p);
  p.kept[0] = lengths[0];
  p.kept[1] = lengths[1];
  p.third_extent = lengths[2];
  p.splits = 1;
  p.row = lengths[0] * lengths[1] * lengths[2] * lengths[3];
  bool row = p.inner_stride == 1 || p.inner == 1;
  bool column = p.kept_stride[0] == 1 && lengths[0] >= 4;
  plan.layout = row && p.inner >= kLanes ? kRow : column ? kColumn : kGeneral;
  plan.x = lengths[0];
  plan.y = lengths[1];
  plan.z = lengths[2] * lengths[3];
  plan.work = size_t(p.inner) * p.outer;
  return plan;
}

void split_work(Plan& plan) {
  auto& p = plan.params;
  if (plan.layout == kColumn && p.inner > kMaxUnsplitRows) {
    p.inner_chunk = kRowsPerSplit;
    p.splits = (p.inner + kRowsPerSplit - 1) / kRowsPerSplit;
    return;
  }
  size_t threads = plan.x * plan.y * plan.z;
  if (threads >= kMaxThreadsWithSplits || plan.work < 2 * kElementsPerSplit) {
    return;
  }
  size_t splits = std::min(plan.work / kElementsPerSplit, kMaxThreadsWithSplits / threads);
  uint32_t& length = p.outer > p.inner ? p.outer : p.inner;
  uint32_t& chunk = p.outer > p.inner ? p.outer_chunk : p.inner_chunk;
  splits = std::min<size_t>(splits, length);
  if (splits < 2) {
    return;
  }
  chunk = (length + splits - 1) / splits;
  chunk = p.outer > p.inner ? chunk : (chunk + 15) / 16 * 16;
  p.splits = (length + chunk - 1) / chunk;
}

void run_plan(const Plan& plan, int op, const array& in, array& out, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(reduce_kernel(op, plan.layout, in.dtype(), out.dtype()));
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(plan.params, 2);
  size_t x = plan.x;
  size_t splits = plan.params.splits;
  size_t work = plan.work / splits;  // of a thread, or of a SIMD-group
  size_t lanes = 1;
  if (plan.layout == kRow) {  // a SIMD-group for two rows
    size_t& paired = splits > 1 ? splits : x;
    paired = (paired + 1) / 2;
    work *= 2;
    lanes = kLanes;
  }
  size_t limit = std::clamp<size_t>(32768 / std::max<size_t>(1, work) * lanes, kLanes, 256);
  dispatch_grid(encoder, x * lanes, plan.y * splits, plan.z, limit);
}

// Copies the array with the reduced axes last, without gaps, if the kernels do not take so many
// dimensions.
array reduced_last(const array& in, const std::vector<int>& kept_axes,
                   const std::vector<int>& reduced_axes, Stream s) {
  Shape shape;
  Strides strides;
  for (auto* axes : {&kept_axes, &reduced_axes}) {
    for (int axis : *axes) {
      shape.push_back(in.shape(axis));
      strides.push_back(in.strides(axis));
    }
  }
  array out(shape, in.dtype(), nullptr, {});
  allocate_output(out);
  copy_inplace(in, out, shape, strides, out.strides(), 0, 0, CopyType::General, s);
  metal::get_command_encoder(s).add_temporary(out);
  return out;
}

void reduce(int op, const array& in, array& out, const std::vector<int>& axes, Stream s) {
  std::vector<int> kept_axes;
  for (int axis = 0; axis < static_cast<int>(in.ndim()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
      kept_axes.push_back(axis);
    }
  }
  auto pick = [&](const array& a, const std::vector<int>& which) {
    Dims dims;
    for (int axis : which) {
      dims.shape.push_back(a.shape(axis));
      dims.strides.push_back(a.strides(axis));
    }
    return collapse(dims);
  };
  Dims kept = pick(in, kept_axes);
  Dims reduced = pick(in, axes);
  array source = in;
  if (kept.shape.size() > 4 || reduced.shape.size() > 8) {
    source = reduced_last(in, kept_axes, axes, s);
    int length = static_cast<int>(in.size() / out.size());
    kept = {{static_cast<int>(out.size())}, {length}};
    reduced = {{length}, {1}};
  }
  Plan plan = make_plan(kept, reduced);
  split_work(plan);
  bool widen = is_half(out.dtype()) && (op == Reduce::Sum || op == Reduce::Prod);
  while (plan.params.splits > 1) {
    int rows = static_cast<int>(plan.params.splits);
    int row = static_cast<int>(plan.params.row);
    array partial({rows, row}, widen ? float32 : out.dtype(), nullptr, {});
    allocate_output(partial);
    metal::get_command_encoder(s).add_temporary(partial);
    run_plan(plan, op, source, partial, s);
    source = partial;
    plan = make_plan({{row}, {1}}, {{rows}, {row}});
    // The kernels of widened sums exist only for rows of outputs.
    plan.layout = kColumn;
    plan.x = row;
    split_work(plan);
  }
  run_plan(plan, op, source, out, s);
}

}  // namespace

MLX_EVAL(Reduce) {
  const array& in = inputs[0];
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  if (in.dtype() == float64) {
    check_float64(name(), stream());
    return cpu::reduce_float64(reduce_type_, in, out, axes_, stream());
  }
  if (in.size() == out.size()) {
    return copy_inplace(in, out, CopyType::General, stream());
  }
  Dtype out_type = out.dtype();
  bool direct = reads_directly(reduce_type_, in.dtype(), out_type);
  reduce(reduce_type_, direct ? in : converted(in, out_type, stream()), out, axes_, stream());
}

MLX_EVAL(ArgReduce) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  if (inputs[0].dtype() == float64) {
    check_float64(name(), stream());
    return cpu::arg_reduce_float64(reduce_type_ == ArgReduce::ArgMin, inputs[0], out, axis_,
                                   stream());
  }
  array in = inputs[0];
  auto kept_dims = [&] {
    Shape shape = in.shape();
    Strides strides = in.strides();
    shape.erase(shape.begin() + axis_);
    strides.erase(strides.begin() + axis_);
    return collapse_contiguous_dims(shape, strides);
  };
  auto [shape, strides] = kept_dims();
  if (shape.size() > 2) {
    in = row_contiguous(in, stream());
    std::tie(shape, strides) = kept_dims();
  }
  size_t last = shape.size() - 1;
  int64_t steps[3] = {strides[last], last > 0 ? strides[0] : 0, in.strides(axis_)};
  uint32_t length = in.shape(axis_);
  static KernelTable table(2 * kDtypes);
  int op = reduce_type_ == ArgReduce::ArgMin ? 0 : 1;
  auto* kernel = table.get(op * kDtypes + dtype_index(in.dtype()), [&] {
    return kernel_name(op ? "ArgMax" : "ArgMin", type_name(in.dtype()));
  });
  auto& encoder = metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(steps, 3, 2);
  encoder.set_bytes(length, 3);
  dispatch_grid(encoder, shape[last], last > 0 ? shape[0] : 1, 1,
                std::clamp<size_t>(32768 / std::max(length, 1u), 1, 256));
}

}  // namespace mlx::core
