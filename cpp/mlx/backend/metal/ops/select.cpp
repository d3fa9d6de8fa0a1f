// where(condition, x, y).
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/ternary.h"

namespace mlx::core {

namespace {

constexpr const char* kSelectVariants[] = {"vvv", "vsv", "vvs", "vss", "g"};

MTL::ComputePipelineState* select_kernel(int variant, Dtype dtype) {
  static KernelTable table(5 * 9);
  return table.get(variant * 9 + dtype.size(), [&] {
    return kernel_name("Select", kSelectVariants[variant], size_name(dtype));
  });
}

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
  // A scalar's memory must not become the output's while other elements still read the scalar.
  if (!x_scalar && !y_scalar) {
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
  auto run_line = [&](const array& c, const array& p, const array& q) {
    bool same_p = is_scalar(p);
    bool same_q = is_scalar(q);
    auto* kernel = select_kernel((same_p ? 1 : 0) + (same_q ? 2 : 0), out.dtype());
    dispatch_line(encoder, out.size(), [&](int64_t first) {
      encoder.set_compute_pipeline_state(kernel);
      encoder.set_input_array(c, 0, first);
      encoder.set_input_array(p, 1, same_p ? 0 : first * p.itemsize());
      encoder.set_input_array(q, 2, same_q ? 0 : first * q.itemsize());
      encoder.set_output_array(out, 3, first * out.itemsize());
    });
  };
  if (line) {
    return run_line(condition, x, y);
  }
  const Stream s = stream();
  const array operands[] = {untransposed(condition, s), untransposed(x, s), untransposed(y, s)};
  StridedWalk walk(out.shape(),
                   {operands[0].strides(), operands[1].strides(), operands[2].strides()});
  if (walk.deep()) {
    return run_line(row_contiguous(operands[0], s), row_contiguous(operands[1], s),
                    row_contiguous(operands[2], s));
  }
  encoder.set_compute_pipeline_state(select_kernel(4, out.dtype()));
  for (int k = 0; k < 3; ++k) encoder.set_input_array(operands[k], k);
  encoder.set_output_array(out, 3);
  walk.run<3>(encoder, 4);
}

}  // namespace mlx::core
