// axpby: the operation and the rules that transform it.
#include "axpby/axpby.h"

#include <stdexcept>

#include "mlx/utils.h"

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
  auto shape = operands[0].shape();
  return mx::array(std::move(shape), dtype, std::make_shared<Axpby>(mx::to_stream(s), alpha, beta),
                   std::move(operands));
}

mx::array Axpby::scaled(const mx::array& a, int operand) {
  return mx::multiply(mx::array(operand == 0 ? alpha_ : beta_, a.dtype()), a, stream());
}

std::vector<mx::array> Axpby::jvp(const std::vector<mx::array>&,
                                  const std::vector<mx::array>& tangents,
                                  const std::vector<int>& argnums) {
  if (argnums.size() == 1) {
    return {scaled(tangents[0], argnums[0])};
  }
  // The tangents come in the order of argnums.
  bool swapped = argnums[0] == 1;
  return {axpby(tangents[swapped], tangents[!swapped], alpha_, beta_, stream())};
}

std::vector<mx::array> Axpby::vjp(const std::vector<mx::array>&,
                                  const std::vector<mx::array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<mx::array>&) {
  std::vector<mx::array> result;
  for (int operand : argnums) {
    result.push_back(scaled(cotangents[0], operand));
  }
  return result;
}

std::pair<std::vector<mx::array>, std::vector<int>> Axpby::vmap(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  // The mapped axis goes where the first operand that has one has it; the other is broadcast.
  int axis = axes[0] >= 0 ? axes[0] : axes[1];
  std::vector<mx::array> operands;
  for (int i = 0; i < 2; ++i) {
    operands.push_back(axes[i] < 0 ? mx::expand_dims(inputs[i], axis, stream())
                                   : mx::moveaxis(inputs[i], axes[i], axis, stream()));
  }
  return {{axpby(operands[0], operands[1], alpha_, beta_, stream())}, {axis}};
}

bool Axpby::is_equivalent(const mx::Primitive& other) const {
  const auto& o = static_cast<const Axpby&>(other);
  return alpha_ == o.alpha_ && beta_ == o.beta_;
}

}  // namespace mlx_sample
