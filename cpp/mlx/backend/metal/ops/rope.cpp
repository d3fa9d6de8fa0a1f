// The rotary position encoding: a thread for each pair of elements, and for each that stays.
#include "mlx/primitives/rope.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

// Must equal the declaration in the kernel.
struct RotationParams {
  int64_t strides[3];  // between entries, their matrices, and the rows of these
  uint32_t dims, row, positions, matrices, offset_step;
  float scale, exponent, direction;
};

// An array with the axes entries, matrices, positions and row, whose rows are contiguous.
array as_matrices(const array& x, const Stream& s) {
  if (x.ndim() == 4 && x.strides(-1) == 1) return x;
  const int entries = x.shape(0), positions = x.shape(-2), row = x.shape(-1);
  const auto matrices =
      static_cast<int>(x.size() / (size_t(entries) * size_t(positions) * size_t(row)));
  array out({entries, matrices, positions, row}, x.dtype(), nullptr, {});
  const int64_t matrix = int64_t{positions} * row;
  make_view(row_contiguous(x, s), out, {matrix * matrices, matrix, row, 1});
  return out;
}

}  // namespace

MLX_EVAL(RoPE) {
  const Stream s = stream();
  allocate_output(out);
  if (out.size() == 0) return;
  const Rotation& r = rotation_;
  const array x = as_matrices(inputs[0], s);
  const array offset = row_contiguous(inputs[1], s);
  const bool listed = inputs.size() == 3;
  const array speeds = listed ? row_contiguous(inputs[2], s) : offset;
  static KernelTable table(4 * kDtypes);
  const int form = r.traditional * 2 + listed;
  auto* kernel = table.get(form * kDtypes + dtype_index(x.dtype()), [&] {
    return kernel_name("RoPE", r.traditional ? "neighbours" : "halves",
                       listed ? "listed" : "powers", type_name(x.dtype()));
  });
  const RotationParams params{{x.strides(0), x.strides(1), x.strides(2)},
                              static_cast<uint32_t>(r.dims),
                              static_cast<uint32_t>(x.shape(3)),
                              static_cast<uint32_t>(x.shape(2)),
                              static_cast<uint32_t>(x.shape(1)),
                              offset.size() == 1 ? 0u : 1u,
                              r.scale,
                              r.exponent,
                              r.backwards ? -1.0f : 1.0f};
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(x, 0);
  encoder.set_input_array(offset, 1);
  encoder.set_input_array(speeds, 2);
  encoder.set_output_array(out, 3);
  encoder.set_bytes(params, 4);
  dispatch_grid(encoder, params.row - params.dims / 2, params.positions,
                size_t{params.matrices} * size_t(x.shape(0)));
}

}  // namespace mlx::core
