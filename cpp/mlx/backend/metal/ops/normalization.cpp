// Normalisation of rows: each SIMD-group, or threadgroup, takes one row after the other.
#include "mlx/primitives/normalization.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

// Must equal the declaration in the kernels.
struct Params {
  uint32_t length, rows;
  float eps;
  uint32_t weight_step, bias_step;
};

Params params_of(const array& x, float eps) {
  const auto length = static_cast<uint32_t>(x.shape(-1));
  return {length, static_cast<uint32_t>(x.size() / length), eps, 1, 1};
}

// A weight or bias as the kernels read it. Those of threadgroups also read one that is the same for
// all columns, as the default is.
array parameter(const array& given, const SharedRows& layout, uint32_t& step, Stream s) {
  const bool is_splat = given.strides(0) == 0;
  step = is_splat && layout.index() ? 0 : 1;
  return step == 0 ? given : row_contiguous(given, s);
}

}  // namespace

MLX_EVAL(Normalize) {
  const Stream s = stream();
  array x = row_contiguous(inputs[0], s);
  if (inputs[0].flags().row_contiguous && is_donatable(inputs[0], out)) {
    out.copy_shared_buffer(inputs[0]);
  } else {
    allocate_output(out);
  }
  if (out.size() == 0) return;
  const SharedRows layout = shared_rows(x.shape(-1));
  static KernelTable table(2 * kSharedRowKinds * kDtypes);
  const int row = kind_.centered * kSharedRowKinds + layout.index();
  auto* kernel = table.get(row * kDtypes + dtype_index(x.dtype()), [&] {
    return name() + kernel_name(layout.suffix, type_name(x.dtype()));
  });
  // Copies are dispatches of their own, so they must come before the binding starts.
  Params params = params_of(x, kind_.eps);
  const array weight = parameter(inputs[1], layout, params.weight_step, s);
  const array bias = parameter(inputs[2], layout, params.bias_step, s);
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(x, 0);
  encoder.set_input_array(weight, 1);
  encoder.set_input_array(bias, 2);
  encoder.set_output_array(out, 3);
  encoder.set_bytes(params, 4);
  dispatch_grid(encoder, params.rows * layout.threads, 1, 1,
                layout.index() ? layout.threads : rows_of_threadgroup(params.length) * kLanes);
}

MLX_EVAL_MULTI(NormalizeVJP) {
  const Stream s = stream();
  for (auto& out : outputs) allocate_output(out);
  if (outputs[0].size() == 0) return;
  const array x = row_contiguous(inputs[0], s);
  const array weight = row_contiguous(inputs[1], s);
  const array cotangent = row_contiguous(inputs[2], s);
  static KernelTable table(2 * kDtypes);
  auto* kernel = table.get(kind_.centered * kDtypes + dtype_index(x.dtype()),
                           [&] { return kernel_name(name(), type_name(x.dtype())); });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(x, 0);
  encoder.set_input_array(weight, 1);
  encoder.set_input_array(cotangent, 2);
  encoder.set_output_array(outputs[0], 3);
  encoder.set_output_array(outputs[1], 4);
  encoder.set_bytes(params_of(x, kind_.eps), 5);
  dispatch_grid(encoder, outputs[1].shape(0) * kLanes, 1, 1, kLanes);
}

}  // namespace mlx::core
