// Elementwise operations of double, with the same special cases as the kernels.
#pragma once

#include <cmath>
#include <limits>

#include "mlx/backend/common/op_kinds.h"

namespace mlx::core::cpu {

inline double erfinv(double y) {
  if (!(std::fabs(y) < 1.0)) {
    return std::fabs(y) == 1.0 ? y * std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN();
  }
  // Winitzki's approximation, refined by Halley's method on erfc, which keeps digits in the tail.
  double w = std::log1p(-y * y);
  double t = 2.0 / (M_PI * 0.147) + 0.5 * w;
  double x = std::sqrt(std::sqrt(t * t - w / 0.147) - t);
  double target = 1.0 - std::fabs(y);
  for (int i = 0; i < 3; ++i) {
    double error = (target - std::erfc(x)) / (-2.0 / std::sqrt(M_PI) * std::exp(-x * x));
    x -= -error / (1.0 + x * -error);
  }
  // Near zero 1 - |y| has lost digits.
  if (std::fabs(y) < 0.5) {
    for (int i = 0; i < 2; ++i) {
      x -= (std::erf(x) - std::fabs(y)) / (2.0 / std::sqrt(M_PI) * std::exp(-x * x));
    }
  }
  return std::copysign(x, y);
}

inline double sigmoid(double x) {
  return x < 0.0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
}

inline double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

inline double remainder(double a, double b) {
  double r = std::fmod(a, b);
  return r == 0.0 ? std::copysign(r, b) : (r < 0.0) != (b < 0.0) ? r + b : r;
}

inline double maximum(double a, double b) { return a > b || std::isnan(a) ? a : b; }
inline double minimum(double a, double b) { return a < b || std::isnan(a) ? a : b; }

inline double logaddexp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double hi = a > b ? a : b;
  double lo = a > b ? b : a;
  return std::isinf(hi) || std::isinf(lo) ? hi : hi + std::log1p(std::exp(lo - hi));
}

// The value of an operation that is never applied to float64.
struct None {};
inline constexpr None none;

// Calls `use` with the operation's function on double, once, so that the choice is made outside the
// loop over elements.
template <typename Use>
void with_function(UnaryOp op, Use use) {
  switch (op) {
#define MLX_UNARY(Op, function, types, on_double, ...) \
  case UnaryOp::Op:                                    \
    return use([](double x) { return on_double; });
#include "mlx/primitives/elementwise.def"
    case UnaryOp::count:
      break;
  }
}

template <typename Use>
void with_function(BinaryOp op, Use use) {
  switch (op) {
#define MLX_BINARY_KERNEL(Op, types, on_double) \
  case BinaryOp::Op:                            \
    return use([](double a, double b) { return on_double; });
#define MLX_BINARY(Op, function, types, on_double, ...) MLX_BINARY_KERNEL(Op, types, on_double)
#include "mlx/primitives/elementwise.def"
    case BinaryOp::count:
      break;
  }
}

}  // namespace mlx::core::cpu
