// axpby: the operation, its evaluation and the rules that transform it.
#include "axpby/axpby.h"

#include <stdexcept>

#include "evaluation.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

mx::array axpby(const mx::array& x, const mx::array& y, float alpha, float beta,
                mx::StreamOrDevice s) {
  auto promoted = mx::promote_types(x.dtype(), y.dtype());
  auto dtype = mx::issubdtype(promoted, mx::inexact) ? promoted : mx::float32;
  if (dtype == mx::float64) {
    throw std::invalid_argument(
        "[axpby] x and y must be of at most single precision, but one is float64.");
  }
  auto operands = mx::broadcast_arrays({mx::astype(x, dtype, s), mx::astype(y, dtype, s)}, s);
  return mx::array(operands[0].shape(), dtype,
                   std::make_shared<Axpby>(mx::to_stream(s), alpha, beta), operands);
}

// One kernel serves both devices.
void Axpby::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  eval_gpu(inputs, outputs);
}

void Axpby::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  const auto &x = inputs[0], &y = inputs[1];
  auto& out = outputs[0];
  bool contiguous = (x.flags().row_contiguous && y.flags().row_contiguous) ||
                    (x.flags().col_contiguous && y.flags().col_contiguous);
  if (!contiguous) {
    out.set_data(mx::allocator::malloc(out.nbytes()));
  } else if (x.is_donatable() || y.is_donatable()) {
    out.copy_shared_buffer(x.is_donatable() ? x : y);  // nobody else needs this operand
  } else {
    out.set_data(mx::allocator::malloc(out.nbytes()), out.size(), x.strides(), x.flags());
  }
  std::string layout = contiguous ? "contiguous_" : "general_";
  KernelCall call(find_kernel("axpby_" + layout + mx::type_to_name(out), stream()), stream());
  call.in(x).in(y).out(out).bytes(alpha_).bytes(beta_);
  if (!contiguous) {
    call.vector(out.shape()).vector(x.strides()).vector(y.strides());
    call.bytes(static_cast<int>(out.ndim()));
  }
  call.run(out.size());
}

std::vector<mx::array> Axpby::jvp(const std::vector<mx::array>& primals,
                                  const std::vector<mx::array>& tangents,
                                  const std::vector<int>& argnums) {
  if (argnums.size() == 1) return vjp(primals, tangents, argnums, {});
  bool swapped = argnums[0] == 1;  // tangents are in the order of argnums
  return {axpby(tangents[swapped], tangents[!swapped], alpha_, beta_, stream())};
}

std::vector<mx::array> Axpby::vjp(const std::vector<mx::array>&,
                                  const std::vector<mx::array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<mx::array>&) {
  std::vector<mx::array> result;
  for (int operand : argnums) {
    auto factor = mx::array(operand == 0 ? alpha_ : beta_, cotangents[0].dtype());
    result.push_back(mx::multiply(factor, cotangents[0], stream()));
  }
  return result;
}

std::pair<std::vector<mx::array>, std::vector<int>> Axpby::vmap(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  // The mapped axis of the result is that of the first mapped operand; the other operand is
  // broadcast.
  int axis = axes[0] >= 0 ? axes[0] : axes[1];
  auto moved = [&](int i) {
    return axes[i] < 0 ? mx::expand_dims(inputs[i], axis, stream())
                       : mx::moveaxis(inputs[i], axes[i], axis, stream());
  };
  return {{axpby(moved(0), moved(1), alpha_, beta_, stream())}, {axis}};
}

}  // namespace mlx_sample
