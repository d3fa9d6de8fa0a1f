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

constexpr const char* kOps[] = {
    "And", "Or", "Sum", "Prod", "Min", "Max", "Mean", "CombineMoments", "Variance"};
constexpr const char* kLayouts[] = {"row", "column", "general", "shared", "columns", "lanes"};

// Moments are rows of four floats (kernels/moments.h).
constexpr int kMoments = kDtypes, kTypes = kDtypes + 1;
constexpr ShapeElem kFloatsOfMoments = 4;
const char* name_of_type(int type, Dtype dtype) {
  return type == kMoments ? "moments" : type_name(dtype);
}

MTL::ComputePipelineState* reduce_kernel(int op, ReduceLayout layout, const array& in,
                                         bool of_partials, const array& out) {
  constexpr int kLayoutCount = std::size(kLayouts);
  static KernelTable table(std::size(kOps) * kLayoutCount * kTypes * kTypes);
  const bool joins_moments = of_partials && (op == kCombineMoments || op == kVariance);
  const int in_type = joins_moments ? kMoments : dtype_index(in.dtype());
  const int out_type = op == kCombineMoments ? kMoments : dtype_index(out.dtype());
  const int row = op * kLayoutCount + static_cast<int>(layout);
  const size_t index = (row * kTypes + in_type) * kTypes + out_type;
  return table.get(index, [&] {
    return kernel_name(kOps[op], kLayouts[static_cast<int>(layout)],
                       name_of_type(in_type, in.dtype()), name_of_type(out_type, out.dtype()));
  });
}

bool is_half(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

// What a pass computes that is not the last one.
int op_of_partials(int op) {
  if (op == Reduce::Mean) return Reduce::Sum;
  return op == kVariance ? kCombineMoments : op;
}

int op_of_pass(int op, const ReducePlan& plan) {
  return plan.params.splits > 1 ? op_of_partials(op) : op;
}

// Results of a pass that is not the last one.
array new_partials(int op, const ReducePlan& plan, Dtype dtype, Stream s) {
  Shape shape{static_cast<ShapeElem>(plan.params.splits), static_cast<ShapeElem>(plan.params.row)};
  if (op == kVariance) shape.push_back(kFloatsOfMoments);
  return temporary(std::move(shape), dtype, s);
}

void pass_over(const array& in, bool of_partials, int op, const ReducePlan& plan, array& out,
               Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  const int op_here = op_of_pass(op, plan);
  encoder.set_compute_pipeline_state(reduce_kernel(op_here, plan.layout, in, of_partials, out));
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  plan.run(encoder, 2);
}

// Whether results of 16 bits would lose digits, or overflow, between two passes.
bool widens(int op) {
  return op == Reduce::Sum || op == Reduce::Prod || op == Reduce::Mean || op == kVariance;
}

Dtype type_of_partials(int op, Dtype out) { return widens(op) && is_half(out) ? float32 : out; }

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

// The operations that divide, divide by the number of elements in a reduction, less `ddof`.
void reduce(int op, const array& in, array& out, const std::vector<int>& axes, int ddof, Stream s) {
  const bool shared = runs_on_gpu(s);
  const auto run = [&](const array& source, ReducePlan plan) {
    const auto first = [&](const ReducePlan& p, array& to) {
      pass_over(source, false, op, p, to, s);
    };
    plan.params.divisor = divisor_of(in.size(), out.size(), ddof);
    run_passes(std::move(plan), op, out, s, std::ref(first));
  };
  if (auto plan = plan_reduction(in.shape(), {&in.strides(), 1}, axes, shared)) {
    return run(in, std::move(*plan));
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

// A GPU is busy only with many threadgroups, so it takes shorter chunks of few lines.
uint32_t chunk_of(const ArgLines& lines) {
  constexpr size_t kManyLines = 512;
  return runs_on_gpu() && lines.x * lines.y < kManyLines ? 1 << 13 : kChunk;
}

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
  const uint32_t chunk = chunk_of(lines);
  if (lines.length <= 2 * chunk) return pass(ArgLayout::Shared, lines.in, lines.length, out);
  const uint32_t chunks = (lines.length - 1) / chunk + 1;
  array candidates =
      temporary({static_cast<ShapeElem>(count), static_cast<ShapeElem>(chunks)}, uint32, s);
  pass(ArgLayout::Shared, lines.in, chunk, candidates);
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

FirstPass first_pass(const ReducePlan& plan, int op, Dtype out) {
  return {kOps[op_of_pass(op, plan)], plan.params.splits > 1 ? type_of_partials(op, out) : out};
}

float divisor_of(size_t elements, size_t results, int ddof) {
  const size_t count = elements / results;
  return std::max(static_cast<float>(count) - static_cast<float>(ddof), 0.0f);
}

void run_passes(ReducePlan plan, int op, array& out, Stream s, const ReducePass& first) {
  std::optional<array> partials;
  const auto pass = [&](array& to) {
    partials ? pass_over(*partials, true, op, plan, to, s) : first(plan, to);
  };
  while (plan.params.splits > 1) {
    array results = new_partials(op, plan, type_of_partials(op, out.dtype()), s);
    pass(results);
    partials = std::move(results);
    const float divisor = plan.params.divisor;
    plan = plan_of_partials(static_cast<int>(plan.params.splits), static_cast<int>(plan.params.row),
                            runs_on_gpu(s));
    plan.params.divisor = divisor;
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
  reduce(reduce_type_, direct ? in : converted(in, out_type, stream()), out, axes_, 0, stream());
}

MLX_EVAL(Variance) {
  allocate_output(out);
  if (out.size() > 0) reduce(kVariance, inputs[0], out, axes_, ddof_, stream());
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
