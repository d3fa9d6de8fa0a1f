// where(condition, x, y).
#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/ternary.h"

namespace mlx::core {

namespace {

constexpr const char* kVariants[] = {"vvv", "vsv", "vvs", "vss", "g", "gn"};

MTL::ComputePipelineState* select_kernel(int variant, Dtype dtype) {
  static KernelTable table(6 * 9);
  return table.get(variant * 9 + dtype.size(),
                   [&] { return kernel_name("Select", kVariants[variant], size_name(dtype)); });
}

bool is_scalar(const array& a) { return a.data_size() == 1; }

void allocate(const array& x, const array& y, array& out) {
  for (auto* in : {&x, &y}) {
    if (in->flags().row_contiguous && is_donatable(*in, out)) {
      return out.copy_shared_buffer(*in);
    }
  }
  allocate_output(out);
}

}  // namespace

MLX_EVAL(Select) {
  const array& condition = inputs[0];
  const array& x = inputs[1];
  const array& y = inputs[2];
  bool x_scalar = is_scalar(x);
  bool y_scalar = is_scalar(y);
  bool line = condition.flags().row_contiguous && (x_scalar || x.flags().row_contiguous) &&
              (y_scalar || y.flags().row_contiguous);
  // A scalar's memory must not become the output's while others still read the scalar.
  if (out.size() == 1 || (!x_scalar && !y_scalar)) {
    allocate(x, y, out);
  } else if (x_scalar && y_scalar) {
    allocate_output(out);
  } else {
    allocate(x_scalar ? y : x, x_scalar ? y : x, out);
  }
  if (out.size() == 0) {
    return;
  }
  auto& encoder = metal::get_command_encoder(stream());
  auto bind = [&](int variant, int64_t first) {
    encoder.set_compute_pipeline_state(select_kernel(variant, out.dtype()));
    encoder.set_input_array(condition, 0, first);
    encoder.set_input_array(x, 1, x_scalar ? 0 : first * x.itemsize());
    encoder.set_input_array(y, 2, y_scalar ? 0 : first * y.itemsize());
    encoder.set_output_array(out, 3, first * out.itemsize());
  };
  if (line) {
    int variant = (x_scalar ? 1 : 0) + (y_scalar ? 2 : 0);
    return dispatch_line(encoder, out.size(), [&](int64_t first) { bind(variant, first); });
  }
  StridedWalk walk(out.shape(), {condition.strides(), x.strides(), y.strides()});
  bind(walk.deep() ? 5 : 4, 0);
  walk.run<3>(encoder, 4);
}

}  // namespace mlx::core
