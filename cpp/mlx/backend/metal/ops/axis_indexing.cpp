// take_along_axis and put_along_axis.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/ops/gather.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/indexing.h"

namespace mlx::core {

namespace {

struct Lines {
  size_t outer = 1;
  size_t inner = 1;
  Lines(const array& a, int axis) {
    for (int d = 0; d < static_cast<int>(a.ndim()); ++d) {
      (d < axis ? outer : inner) *= d == axis ? 1 : a.shape(d);
    }
  }
};

struct AxisStrides {
  int64_t outer;
  int64_t axis;
  int64_t inner;
};

// The strides of a view; nothing if one of the three parts is not a single dimension.
std::optional<AxisStrides> axis_strides(const array& a, int axis) {
  const auto part = [&](int first, int last) -> std::optional<int64_t> {
    const Shape shape(a.shape().begin() + first, a.shape().begin() + last);
    const Strides strides(a.strides().begin() + first, a.strides().begin() + last);
    const auto [lengths, steps] = collapse_contiguous_dims(shape, strides);
    if (lengths.size() > 1) return std::nullopt;
    return steps[0];
  };
  const auto outer = part(0, axis), inner = part(axis + 1, static_cast<int>(a.ndim()));
  if (!outer || !inner) return std::nullopt;
  return AxisStrides{*outer, a.strides(axis), *inner};
}

// Returns the array if `fits` accepts its strides, else a copy that the kernels can read.
template <typename Fits>
std::pair<array, AxisStrides> readable(const array& a, int axis, Stream s, Fits fits) {
  const auto strides = axis_strides(a, axis);
  if (strides && fits(*strides)) return {a, *strides};
  const auto inner = static_cast<int64_t>(Lines(a, axis).inner);
  return {row_contiguous(a, s), {a.shape(axis) * inner, inner, 1}};
}

constexpr size_t kStagingThreads = 256;

// Lines of an array that is not in a CPU's caches, most of whose cache lines are read. Gathers of
// smaller elements than 4 bytes take longer than the memory.
bool pays_to_stage(const array& in, size_t length, size_t count, Stream s) {
  constexpr size_t kLeastBytes = 1 << 10, kLeastTotal = 1 << 22;
  const size_t bytes = length * in.itemsize();
  return !runs_on_gpu(s) && in.itemsize() >= 4 && bytes >= kLeastBytes && bytes <= kStagedBytes &&
         count >= length / 2 && in.nbytes() >= kLeastTotal;
}

}  // namespace

void gather_along_axis(const array& given, const array& given_indices, int axis, array& out,
                       Stream s) {
  static KernelTable table(4 * 9 * kDtypes);
  const Lines lines(given, axis);
  const size_t count = given_indices.shape(axis);
  const bool in_lines = lines.inner == 1;
  const auto [in, strides] = readable(given, axis, s, [&](const AxisStrides& of) {
    return in_lines ? of.axis == 1 || given.shape(axis) == 1 : of.inner == 1;
  });
  const auto [indices, index_strides] =
      readable(given_indices, axis, s, [&](const AxisStrides& of) {
        return in_lines ? of.axis == 1 || count == 1 : of.inner <= 1 && of.inner >= 0;
      });
  const bool staged = in_lines && pays_to_stage(in, in.shape(axis), count, s);
  const size_t variant = staged ? 3 : in_lines ? 0 : index_strides.inner == 0 ? 1 : 2;
  static constexpr const char* kVariants[] = {"lines", "whole", "rows", "staged"};
  auto* kernel = table.get((variant * 9 + in.itemsize()) * kDtypes + dtype_index(indices.dtype()),
                           [&, &in = in, &indices = indices] {
                             return kernel_name("GatherAxis", kVariants[variant],
                                                size_name(in.dtype()), type_name(indices.dtype()));
                           });
  const AxisParams params{in.shape(axis), strides.axis, strides.outer, index_strides.axis,
                          index_strides.outer};
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_input_array(indices, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(params, 3);
  if (staged) {
    encoder.set_bytes(static_cast<uint32_t>(count), 4);
    encoder.dispatch_threadgroups(MTL::Size(lines.outer, 1, 1), MTL::Size(kStagingThreads, 1, 1));
  } else if (in_lines) {
    dispatch_grid(encoder, count, lines.outer);
  } else {
    dispatch_grid(encoder, lines.inner, count, lines.outer);
  }
}

MLX_EVAL(GatherAxis) {
  allocate_output(out);
  if (out.size() == 0) return;
  if (inputs[0].shape(axis_) == 0)
    throw std::invalid_argument("[take_along_axis] Cannot take elements of an empty axis.");
  gather_along_axis(inputs[0], inputs[1], axis_, out, stream());
}

MLX_EVAL(ScatterAxis) {
  Stream s = stream();
  const array& in = inputs[0];
  copy(in, out, in.flags().row_contiguous ? CopyType::Vector : CopyType::General, s);
  if (inputs[1].size() == 0 || out.size() == 0) {
    return;
  }
  Dtype index_type = inputs[1].dtype();
  if (index_type != int32 && index_type != uint32 && index_type != int64) {
    index_type = index_type == uint64 ? int64 : int32;
  }
  array indices = converted(inputs[1], index_type, s);
  array updates = row_contiguous(inputs[2], s);
  bool assign = reduce_type_ == ScatterAxis::None;
  if (out.dtype() == float64 && !assign) {
    check_float64(name(), s);
    return cpu::scatter_axis_sum_float64(updates, converted(indices, int64, s), out, axis_, s);
  }
  int type = assign ? out.dtype().size() : dtype_index(out.dtype());
  static KernelTable table(2 * kDtypes * kDtypes);
  auto* kernel =
      table.get(((assign ? 1 : 0) * kDtypes + type) * kDtypes + dtype_index(index_type), [&] {
        return kernel_name(assign ? "ScatterAxisAssign" : "ScatterAxisSum",
                           assign ? size_name(out.dtype()) : type_name(out.dtype()),
                           type_name(index_type));
      });
  Lines lines(out, axis_);
  int64_t length = out.shape(axis_);
  uint32_t count = indices.shape(axis_);
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(updates, 0);
  encoder.set_input_array(indices, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(length, 3);
  encoder.set_bytes(count, 4);
  dispatch_grid(encoder, lines.inner, lines.outer, 1, std::clamp<size_t>(16384 / count, 1, 256));
}

}  // namespace mlx::core
