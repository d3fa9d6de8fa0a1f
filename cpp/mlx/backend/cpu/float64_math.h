// Elementwise operations of double, with the kernels' conventions.
#pragma once

#include <cmath>
#include <limits>

#include "mlx/backend/common/op_kinds.h"
#include "mlx/errors.h"

namespace mlx::core::cpu {

inline double erfinv(double y) {
  if (!(std::fabs(y) < 1.0)) {
    return std::fabs(y) == 1.0 ? y * std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN();
  }
  // Winitzki's approximation, refined by Halley's method on erfc, which keeps the tail's digits.
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

inline double apply(UnaryOp op, double x) {
  switch (op) {
    case UnaryOp::Abs:
      return std::fabs(x);
    case UnaryOp::ArcCos:
      return std::acos(x);
    case UnaryOp::ArcCosh:
      return std::acosh(x);
    case UnaryOp::ArcSin:
      return std::asin(x);
    case UnaryOp::ArcSinh:
      return std::asinh(x);
    case UnaryOp::ArcTan:
      return std::atan(x);
    case UnaryOp::ArcTanh:
      return std::atanh(x);
    case UnaryOp::Ceil:
      return std::ceil(x);
    case UnaryOp::Cos:
      return std::cos(x);
    case UnaryOp::Cosh:
      return std::cosh(x);
    case UnaryOp::Erf:
      return std::erf(x);
    case UnaryOp::ErfInv:
      return erfinv(x);
    case UnaryOp::Exp:
      return std::exp(x);
    case UnaryOp::Expm1:
      return std::expm1(x);
    case UnaryOp::Floor:
      return std::floor(x);
    case UnaryOp::Log:
      return std::log(x);
    case UnaryOp::Log2:
      return std::log2(x);
    case UnaryOp::Log10:
      return std::log10(x);
    case UnaryOp::Log1p:
      return std::log1p(x);
    case UnaryOp::Negative:
      return -x;
    case UnaryOp::Round:
      return std::nearbyint(x);
    case UnaryOp::Rsqrt:
      return 1.0 / std::sqrt(x);
    case UnaryOp::Sigmoid:
      return x < 0.0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
    case UnaryOp::Sign:
      return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
    case UnaryOp::Sin:
      return std::sin(x);
    case UnaryOp::Sinh:
      return std::sinh(x);
    case UnaryOp::Sqrt:
      return std::sqrt(x);
    case UnaryOp::Square:
      return x * x;
    case UnaryOp::Tan:
      return std::tan(x);
    case UnaryOp::Tanh:
      return std::tanh(x);
    default:
      internal_error("cpu::apply", op_name(op));
  }
}

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

inline double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::ArcTan2:
      return std::atan2(a, b);
    case BinaryOp::Divide:
      return a / b;
    case BinaryOp::LogAddExp:
      return logaddexp(a, b);
    case BinaryOp::Maximum:
      return maximum(a, b);
    case BinaryOp::Minimum:
      return minimum(a, b);
    case BinaryOp::Multiply:
      return a * b;
    case BinaryOp::Power:
      return std::pow(a, b);
    case BinaryOp::Remainder:
      return remainder(a, b);
    case BinaryOp::Subtract:
      return a - b;
    default:
      internal_error("cpu::apply", op_name(op));
  }
}

inline bool compare(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Equal:
      return a == b;
    case BinaryOp::NanEqual:
      return a == b || (std::isnan(a) && std::isnan(b));
    case BinaryOp::NotEqual:
      return a != b;
    case BinaryOp::Less:
      return a < b;
    case BinaryOp::LessEqual:
      return a <= b;
    case BinaryOp::Greater:
      return a > b;
    case BinaryOp::GreaterEqual:
      return a >= b;
    default:
      internal_error("cpu::compare", op_name(op));
  }
}

}  // namespace mlx::core::cpu
