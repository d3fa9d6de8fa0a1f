// clip(x, low, high).
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/ternary.h"

namespace mlx::core {

namespace {

MTL::ComputePipelineState* clip_kernel(bool scalar_bounds, Dtype dtype) {
  static KernelTable table(size_t{2} * kDtypes);
  return table.get((scalar_bounds ? kDtypes : 0) + dtype_index(dtype), [&] {
    return kernel_name("Clip", scalar_bounds ? "vss" : "vvv", type_name(dtype));
  });
}

}  // namespace

MLX_EVAL(Clip) {
  const bool scalar_bounds = is_scalar(inputs[1]) && is_scalar(inputs[2]);
  const bool line = scalar_bounds && inputs[0].flags().contiguous;
  const array x = line ? inputs[0] : row_contiguous(inputs[0], stream());
  const array low = scalar_bounds ? inputs[1] : row_contiguous(inputs[1], stream());
  const array high = scalar_bounds ? inputs[2] : row_contiguous(inputs[2], stream());
  if (line) {
    set_unary_output_data(x, out);
  } else {
    allocate_output(out);
  }
  if (out.size() == 0) {
    return;
  }
  auto& encoder = metal::get_command_encoder(stream());
  dispatch_line(encoder, out.data_size(), [&](int64_t first) {
    const int64_t start = first * out.itemsize();
    encoder.set_compute_pipeline_state(clip_kernel(scalar_bounds, out.dtype()));
    encoder.set_input_array(x, 0, start);
    encoder.set_input_array(low, 1, scalar_bounds ? 0 : start);
    encoder.set_input_array(high, 2, scalar_bounds ? 0 : start);
    encoder.set_output_array(out, 3, start);
  });
}

}  // namespace mlx::core
