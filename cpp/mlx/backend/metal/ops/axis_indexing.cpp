// take_along_axis and put_along_axis.
#include <algorithm>
#include <stdexcept>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
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

}  // namespace

MLX_EVAL(GatherAxis) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  Stream s = stream();
  array in = row_contiguous(inputs[0], s);
  array indices = row_contiguous(inputs[1], s);
  int64_t length = in.shape(axis_);
  if (length == 0) {
    throw std::invalid_argument("[take_along_axis] Cannot take elements of an empty axis.");
  }
  Lines lines(out, axis_);
  static KernelTable table(9 * kDtypes);
  auto* kernel = table.get(in.itemsize() * kDtypes + dtype_index(indices.dtype()), [&] {
    return kernel_name("GatherAxis", size_name(in.dtype()), type_name(indices.dtype()));
  });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_input_array(indices, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(length, 3);
  dispatch_grid(encoder, lines.inner, indices.shape(axis_), lines.outer);
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
