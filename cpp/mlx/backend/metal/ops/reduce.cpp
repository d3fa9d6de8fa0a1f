// Reductions: runs one pass or more.
#include "mlx/backend/metal/ops/reduce.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/kernels/shared_row.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

constexpr const char* kOps[] = {"And", "Or", "Sum", "Prod", "Min", "Max"};
constexpr const char* kLayouts[] = {"row", "column", "general", "shared", "columns", "lanes"};

MTL::ComputePipelineState* reduce_kernel(int op, ReduceLayout layout, Dtype in, Dtype out) {
  constexpr int kLayoutCount = std::size(kLayouts);
  static KernelTable table(std::size(kOps) * kLayoutCount * kDtypes * kDtypes);
  const int row = op * kLayoutCount + static_cast<int>(layout);
  const size_t index = (row * kDtypes + dtype_index(in)) * kDtypes + dtype_index(out);
  return table.get(index, [&] {
    return kernel_name(kOps[op], kLayouts[static_cast<int>(layout)], type_name(in), type_name(out));
  });
}

bool is_half(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

void pass_over(const array& in, Reduce::ReduceType type, const ReducePlan& plan, array& out,
               Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(reduce_kernel(type, plan.layout, in.dtype(), out.dtype()));
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  plan.run(encoder, 2);
}

// Copies the array with the reduced axes last, without gaps, if the kernels do not take so many
// dimensions.
array reduced_last(const array& in, const std::vector<int>& reduced_axes, Stream s) {
  Shape shape;
  Strides strides;
  for (bool reduced : {false, true}) {
    for (int axis = 0; axis < static_cast<int>(in.ndim()); ++axis) {
      const bool found =
          std::find(reduced_axes.begin(), reduced_axes.end(), axis) != reduced_axes.end();
      if (found != reduced) continue;
      shape.push_back(in.shape(axis));
      strides.push_back(in.strides(axis));
    }
  }
  array out = temporary(shape, in.dtype(), s);
  copy_inplace(in, out, shape, strides, out.strides(), 0, 0, CopyType::General, s);
  return out;
}

void reduce(Reduce::ReduceType type, const array& in, array& out, const std::vector<int>& axes,
            Stream s) {
  const bool shared = runs_on_gpu(s);
  const auto run = [&](const array& source, const ReducePlan& plan) {
    const auto first = [&](const ReducePlan& p, array& to) { pass_over(source, type, p, to, s); };
    run_passes(plan, type, out, s, std::ref(first));
  };
  if (const auto plan = plan_reduction(in.shape(), {&in.strides(), 1}, axes, shared)) {
    return run(in, *plan);
  }
  const int rows = static_cast<int>(out.size());
  const int length = static_cast<int>(in.size() / out.size());
  const Strides strides = {length, 1};
  run(reduced_last(in, axes, s), *plan_reduction({rows, length}, {&strides, 1}, {1}, shared));
}

// ---- indices of extremes ----

// Lines along an axis, in which the extreme is looked for: `x` by `y` of them.
struct ArgLines {
  array in;
  size_t x, y;
  int64_t steps[3];  // between lines, in x and in y, and between the elements of a line
  uint32_t length;

  ArgLines(const array& source, int axis, Stream s);
};

ArgLines::ArgLines(const array& source, int axis, Stream s) : in(source) {
  const auto kept_dims = [&] {
    Shape shape = in.shape();
    Strides strides = in.strides();
    shape.erase(shape.begin() + axis);
    strides.erase(strides.begin() + axis);
    return collapse_contiguous_dims(shape, strides);
  };
  auto [shape, strides] = kept_dims();
  if (shape.size() > 2) {
    in = row_contiguous(in, s);
    std::tie(shape, strides) = kept_dims();
  }
  const size_t last = shape.size() - 1;
  x = shape[last];
  y = last > 0 ? shape[0] : 1;
  steps[0] = strides[last];
  steps[1] = last > 0 ? strides[0] : 0;
  steps[2] = in.strides(axis);
  length = in.shape(axis);
}

constexpr const char* kArgOps[] = {"ArgMin", "ArgMax"};
enum class ArgLayout { Line, Row, Shared, Listed, Columns };
constexpr const char* kArgLayouts[] = {"", "Row", "Shared", "Listed", "Columns"};
constexpr int kArgLayoutCount = std::size(kArgLayouts);

MTL::ComputePipelineState* arg_kernel(int op, ArgLayout layout, Dtype dtype) {
  static KernelTable table(2 * kArgLayoutCount * kDtypes);
  const int number = static_cast<int>(layout);
  return table.get((op * kArgLayoutCount + number) * kDtypes + dtype_index(dtype), [&] {
    return kArgOps[op] + kernel_name(kArgLayouts[number], type_name(dtype));
  });
}

metal::CommandEncoder& bind_lines(MTL::ComputePipelineState* kernel, const ArgLines& lines,
                                  array& out, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(lines.in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(lines.steps, 3, 2);
  encoder.set_bytes(lines.length, 3);
  return encoder;
}

constexpr uint32_t kChunk = 1 << 16;  // of a long line

// Whether threadgroups take chunks of contiguous lines: a GPU has a core for each SIMD-group, but a
// host with fewer lines than cores would leave cores idle.
bool shares_lines(const ArgLines& lines) {
  constexpr size_t kFewLines = 16;
  return runs_on_gpu() ? lines.length >= kArgReduceThreads
                       : lines.length > 2 * kChunk && lines.x * lines.y < kFewLines;
}

// A threadgroup for each chunk of a line. Several chunks leave candidates to a second pass.
void arg_reduce_chunks(int op, ArgLines lines, array& out, Stream s) {
  const size_t count = lines.x * lines.y;
  const Dtype dtype = lines.in.dtype();
  const auto pass = [&](ArgLayout layout, const array& listed, uint32_t chunk, array& to) {
    const uint32_t chunks = (lines.length - 1) / chunk + 1;
    auto& encoder = bind_lines(arg_kernel(op, layout, dtype), lines, to, s);
    encoder.set_bytes(chunk, 4);
    encoder.set_input_array(listed, 5);
    encoder.dispatch_threadgroups(MTL::Size(chunks, lines.x, lines.y),
                                  MTL::Size(kArgReduceThreads, 1, 1));
  };
  if (lines.length <= 2 * kChunk) return pass(ArgLayout::Shared, lines.in, lines.length, out);
  const uint32_t chunks = (lines.length - 1) / kChunk + 1;
  array candidates =
      temporary({static_cast<ShapeElem>(count), static_cast<ShapeElem>(chunks)}, uint32, s);
  pass(ArgLayout::Shared, lines.in, kChunk, candidates);
  lines.length = chunks;
  pass(ArgLayout::Listed, candidates, chunks, out);
}

// A SIMD-group for each line.
void arg_reduce_rows(int op, const ArgLines& lines, array& out, Stream s) {
  auto& encoder = bind_lines(arg_kernel(op, ArgLayout::Row, lines.in.dtype()), lines, out, s);
  const size_t rows = std::min(lines.x, rows_of_threadgroup(lines.length));
  encoder.dispatch_threads(MTL::Size(lines.x * kLanes, lines.y, 1), MTL::Size(rows * kLanes, 1, 1));
}

// A threadgroup for so many columns as a SIMD-group has lanes.
void arg_reduce_columns(int op, const ArgLines& lines, array& out, Stream s) {
  auto& encoder = bind_lines(arg_kernel(op, ArgLayout::Columns, lines.in.dtype()), lines, out, s);
  encoder.set_bytes(static_cast<uint32_t>(lines.x), 4);
  encoder.dispatch_threadgroups(MTL::Size((lines.x + kLanes - 1) / kLanes, lines.y, 1),
                                MTL::Size(kArgColumnThreads, 1, 1));
}

}  // namespace

bool reduces_directly(Reduce::ReduceType type, Dtype in, Dtype out) {
  if (in == out) {
    return true;
  }
  if (type != Reduce::Sum && type != Reduce::Prod) {
    return false;
  }
  bool narrow_unsigned = in == uint8 || in == uint16;
  bool narrow_signed = in == bool_ || in == int8 || in == int16;
  return (is_half(in) && out == float32) || (narrow_unsigned && (out == int32 || out == uint32)) ||
         (narrow_signed && out == int32);
}

Dtype type_of_first_pass(const ReducePlan& plan, Reduce::ReduceType type, Dtype out) {
  const bool widen = is_half(out) && (type == Reduce::Sum || type == Reduce::Prod);
  return widen && plan.params.splits > 1 ? float32 : out;
}

void run_passes(ReducePlan plan, Reduce::ReduceType type, array& out, Stream s,
                const ReducePass& first) {
  const Dtype partial_type = type_of_first_pass(plan, type, out.dtype());
  std::optional<array> partial;
  const auto pass = [&](array& to) {
    partial ? pass_over(*partial, type, plan, to, s) : first(plan, to);
  };
  while (plan.params.splits > 1) {
    const int rows = static_cast<int>(plan.params.splits);
    const int row = static_cast<int>(plan.params.row);
    array results = temporary({rows, row}, partial_type, s);
    pass(results);
    partial = std::move(results);
    plan = plan_of_partials(rows, row, runs_on_gpu(s));
  }
  pass(out);
}

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
  bool direct = reduces_directly(reduce_type_, in.dtype(), out_type);
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
  const int op = reduce_type_ == ArgReduce::ArgMin ? 0 : 1;
  const ArgLines lines(inputs[0], axis_, stream());
  if (lines.steps[2] == 1 && shares_lines(lines)) {
    return arg_reduce_chunks(op, lines, out, stream());
  }
  const bool fits_grid = lines.x <= UINT32_MAX / kLanes;
  if (lines.steps[2] == 1 && lines.length >= kLanes && fits_grid) {
    return arg_reduce_rows(op, lines, out, stream());
  }
  const bool is_wide = lines.steps[0] == 1 && lines.x >= kLanes / 2;
  if (runs_on_gpu() && is_wide && lines.length >= kArgColumnThreads / kLanes)
    return arg_reduce_columns(op, lines, out, stream());
  auto& encoder =
      bind_lines(arg_kernel(op, ArgLayout::Line, lines.in.dtype()), lines, out, stream());
  dispatch_grid(encoder, lines.x, lines.y, 1, std::clamp<size_t>(32768 / lines.length, 1, 256));
}

}  // namespace mlx::core
