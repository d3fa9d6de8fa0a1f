// Elementwise operations of one array.
#include "mlx/primitives/unary.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/common/op_kinds.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

constexpr const char* kUnaryVariants[] = {"v", "g", "r"};

MTL::ComputePipelineState* unary_kernel(UnaryOp op, int variant, Dtype dtype) {
  static KernelTable table(static_cast<size_t>(UnaryOp::count) * 3 * kDtypes);
  size_t index = (static_cast<size_t>(op) * 3 + variant) * kDtypes + dtype_index(dtype);
  return table.get(
      index, [&] { return kernel_name(op_name(op), kUnaryVariants[variant], type_name(dtype)); });
}

void unary(UnaryOp op, const array& in, array& out, Stream s) {
  set_unary_output_data(in, out);
  if (out.size() == 0) {
    return;
  }
  if (in.dtype() == float64) {
    check_float64(op_name(op), s);
    return cpu::unary_float64(op, in, out, s);
  }
  auto& encoder = metal::get_command_encoder(s);
  auto bind = [&](int variant, int64_t first) {
    encoder.set_compute_pipeline_state(unary_kernel(op, variant, in.dtype()));
    encoder.set_input_array(in, 0, first * in.itemsize());
    encoder.set_output_array(out, 1, first * out.itemsize());
  };
  if (in.flags().contiguous) {
    return dispatch_line(encoder, in.data_size(), [&](int64_t first) { bind(0, first); });
  }
  StridedWalk walk(in.shape(), {in.strides()});
  if (walk.deep()) {
    array dense = row_contiguous(in, s);
    return dispatch_line(encoder, in.size(), [&](int64_t first) {
      bind(0, first);
      encoder.set_input_array(dense, 0, first * in.itemsize());
    });
  }
  bind(walk.side_by_side(0) ? 2 : 1, 0);
  walk.run<1>(encoder, 2);
}

}  // namespace

#define MLX_UNARY(Class, ...) \
  MLX_EVAL(Class) { unary(UnaryOp::Class, inputs[0], out, stream()); }
#define MLX_UNARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

MLX_EVAL(Log) {
  auto op = base_ == Base::e ? UnaryOp::Log : base_ == Base::two ? UnaryOp::Log2 : UnaryOp::Log10;
  unary(op, inputs[0], out, stream());
}

MLX_EVAL(Sqrt) { unary(recip_ ? UnaryOp::Rsqrt : UnaryOp::Sqrt, inputs[0], out, stream()); }

}  // namespace mlx::core
