// Elementwise operations of two arrays.
#include "mlx/primitives/binary.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/common/op_kinds.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

constexpr const char* kBinaryVariants[] = {"vv", "sv", "vs", "g", "r", "sr", "rs"};

MTL::ComputePipelineState* binary_kernel(BinaryOp op, int variant, Dtype dtype) {
  static KernelTable table(static_cast<size_t>(BinaryOp::count) * 7 * kDtypes);
  size_t index = (static_cast<size_t>(op) * 7 + variant) * kDtypes + dtype_index(dtype);
  return table.get(
      index, [&] { return kernel_name(op_name(op), kBinaryVariants[variant], type_name(dtype)); });
}

int line_variant(BinaryOpType type) {
  return type == BinaryOpType::ScalarVector ? 1 : type == BinaryOpType::VectorScalar ? 2 : 0;
}

int row_variant(const StridedWalk& walk) {
  if (walk.side_by_side(0)) {
    return walk.side_by_side(1) ? 4 : walk.same(1) ? 6 : 3;
  }
  return walk.same(0) && walk.side_by_side(1) ? 5 : 3;
}

void binary(BinaryOp op, const array& a, const array& b, array& out, Stream s) {
  auto type = get_binary_op_type(a, b);
  set_binary_op_output_data(a, b, out, type);
  if (out.size() == 0) {
    return;
  }
  if (a.dtype() == float64) {
    check_float64(op_name(op), s);
    return cpu::binary_float64(op, a, b, out, s);
  }
  auto& encoder = metal::get_command_encoder(s);
  auto run_line = [&](const array& x, const array& y, int variant) {
    dispatch_line(encoder, out.data_size(), [&](int64_t first) {
      encoder.set_compute_pipeline_state(binary_kernel(op, variant, a.dtype()));
      encoder.set_input_array(x, 0, variant == 1 ? 0 : first * x.itemsize());
      encoder.set_input_array(y, 1, variant == 2 ? 0 : first * y.itemsize());
      encoder.set_output_array(out, 2, first * out.itemsize());
    });
  };
  if (type != BinaryOpType::General) {
    return run_line(a, b, line_variant(type));
  }
  array x = untransposed(a, s);
  array y = untransposed(b, s);
  StridedWalk walk(out.shape(), {x.strides(), y.strides()});
  if (walk.deep()) {
    return run_line(row_contiguous(x, s), row_contiguous(y, s), 0);
  }
  encoder.set_compute_pipeline_state(binary_kernel(op, row_variant(walk), a.dtype()));
  encoder.set_input_array(x, 0);
  encoder.set_input_array(y, 1);
  encoder.set_output_array(out, 2);
  walk.run<2>(encoder, 3);
}

void divmod(const std::vector<array>& inputs, std::vector<array>& outputs, Stream s) {
  auto type = get_binary_op_type(inputs[0], inputs[1]);
  bool line = type != BinaryOpType::General;
  array a = line ? inputs[0] : row_contiguous(inputs[0], s);
  array b = line ? inputs[1] : row_contiguous(inputs[1], s);
  const array& layout = type == BinaryOpType::ScalarVector ? b : a;
  for (auto& out : outputs) {
    out.set_data(allocator::malloc(layout.data_size() * out.itemsize()), layout.data_size(),
                 layout.strides(), layout.flags());
  }
  if (outputs[0].size() == 0) {
    return;
  }
  if (a.dtype() == float64) {
    check_float64("DivMod", s);
    return cpu::divmod_float64(a, b, outputs[0], outputs[1], s);
  }
  static KernelTable table(3 * kDtypes);
  int variant = line_variant(type);
  auto* kernel = table.get(variant * kDtypes + dtype_index(a.dtype()), [&] {
    return kernel_name("DivMod", kBinaryVariants[variant], type_name(a.dtype()));
  });
  auto& encoder = metal::get_command_encoder(s);
  dispatch_line(encoder, layout.data_size(), [&](int64_t first) {
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_input_array(a, 0, variant == 1 ? 0 : first * a.itemsize());
    encoder.set_input_array(b, 1, variant == 2 ? 0 : first * b.itemsize());
    encoder.set_output_array(outputs[0], 2, first * a.itemsize());
    encoder.set_output_array(outputs[1], 3, first * a.itemsize());
  });
}

}  // namespace

#define MLX_BINARY(Class, ...) \
  MLX_EVAL(Class) { binary(BinaryOp::Class, inputs[0], inputs[1], out, stream()); }
#define MLX_BINARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

MLX_EVAL(Equal) {
  // Only floats have NaNs.
  bool nan = equal_nan_ && issubdtype(inputs[0].dtype(), inexact);
  binary(nan ? BinaryOp::NanEqual : BinaryOp::Equal, inputs[0], inputs[1], out, stream());
}

MLX_EVAL(BitwiseBinary) {
  static constexpr BinaryOp ops[] = {BinaryOp::BitwiseAnd, BinaryOp::BitwiseOr,
                                     BinaryOp::BitwiseXor, BinaryOp::LeftShift,
                                     BinaryOp::RightShift};
  binary(ops[op_], inputs[0], inputs[1], out, stream());
}

MLX_EVAL_MULTI(DivMod) { divmod(inputs, outputs, stream()); }

}  // namespace mlx::core
