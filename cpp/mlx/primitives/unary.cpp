// Elementwise functions of one array: what they apply, and their derivatives.
#include "mlx/primitives/unary.h"

#include <cmath>
#include <numbers>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

// UNARY_RULE(class, operation) { derivative } : x is the input, y the output, t the tangent, s the
// stream.
#define UNARY_RULE(PRIMITIVE, operation)                                              \
  static array PRIMITIVE##_derivative(const array& x, const array& y, const array& t, \
                                      const Stream& s);                               \
  array PRIMITIVE::apply(const std::vector<array>& inputs) const {                    \
    return operation(inputs[0], stream());                                            \
  }                                                                                   \
  array PRIMITIVE::partial(int, const std::vector<array>& inputs, const array& out,   \
                           const array& t) const {                                    \
    return PRIMITIVE##_derivative(inputs[0], out, t, stream());                       \
  }                                                                                   \
  static array PRIMITIVE##_derivative(                                                \
      [[maybe_unused]] const array& x, [[maybe_unused]] const array& y,               \
      [[maybe_unused]] const array& t, [[maybe_unused]] const Stream& s)

namespace {

array scalar(double value, const array& like) { return array(value, like.dtype()); }

array one_minus(const array& x, const Stream& s) { return subtract(scalar(1, x), x, s); }

array one_plus(const array& x, const Stream& s) { return add(scalar(1, x), x, s); }

}  // namespace

UNARY_RULE(ArcCos, arccos) {
  return negative(multiply(t, rsqrt(one_minus(square(x, s), s), s), s), s);
}
UNARY_RULE(ArcSin, arcsin) { return multiply(t, rsqrt(one_minus(square(x, s), s), s), s); }
UNARY_RULE(ArcTan, arctan) { return divide(t, one_plus(square(x, s), s), s); }
UNARY_RULE(ArcCosh, arccosh) {
  return multiply(t, rsqrt(subtract(square(x, s), scalar(1, x), s), s), s);
}
UNARY_RULE(ArcSinh, arcsinh) { return multiply(t, rsqrt(one_plus(square(x, s), s), s), s); }
UNARY_RULE(ArcTanh, arctanh) { return divide(t, one_minus(square(x, s), s), s); }
UNARY_RULE(Cos, cos) { return negative(multiply(t, sin(x, s), s), s); }
UNARY_RULE(Sin, sin) { return multiply(t, cos(x, s), s); }
UNARY_RULE(Tan, tan) { return multiply(t, one_plus(square(y, s), s), s); }
UNARY_RULE(Cosh, cosh) { return multiply(t, sinh(x, s), s); }
UNARY_RULE(Sinh, sinh) { return multiply(t, cosh(x, s), s); }
UNARY_RULE(Tanh, tanh) { return multiply(t, one_minus(square(y, s), s), s); }
UNARY_RULE(Exp, exp) { return multiply(t, y, s); }
UNARY_RULE(Expm1, expm1) { return multiply(t, one_plus(y, s), s); }
UNARY_RULE(Log1p, log1p) { return divide(t, one_plus(x, s), s); }
UNARY_RULE(Sigmoid, sigmoid) { return multiply(t, multiply(y, one_minus(y, s), s), s); }
UNARY_RULE(Square, square) { return multiply(t, multiply(scalar(2, x), x, s), s); }
UNARY_RULE(Negative, negative) { return negative(t, s); }
UNARY_RULE(Copy, copy) { return t; }
UNARY_RULE(Erf, erf) {
  array slope =
      multiply(scalar(2 / std::sqrt(std::numbers::pi), x), exp(negative(square(x, s), s), s), s);
  return multiply(t, slope, s);
}
UNARY_RULE(ErfInv, erfinv) {
  array slope = multiply(scalar(std::sqrt(std::numbers::pi) / 2, x), exp(square(y, s), s), s);
  return multiply(t, slope, s);
}

// Steps: the derivative is 0 wherever there is one.
UNARY_RULE(BitwiseInvert, bitwise_invert) { return zeros_like(t, s); }
UNARY_RULE(Ceil, ceil) { return zeros_like(t, s); }
UNARY_RULE(Floor, floor) { return zeros_like(t, s); }
UNARY_RULE(LogicalNot, logical_not) { return zeros_like(t, s); }
UNARY_RULE(Round, round) { return zeros_like(t, s); }
UNARY_RULE(Sign, sign) { return zeros_like(t, s); }

#undef UNARY_RULE

array Log::apply(const std::vector<array>& inputs) const {
  switch (base_) {
    case two:
      return log2(inputs[0], stream());
    case ten:
      return log10(inputs[0], stream());
    default:
      return log(inputs[0], stream());
  }
}

array Log::partial(int, const std::vector<array>& inputs, const array&, const array& t) const {
  array slope = divide(t, inputs[0], stream());
  if (base_ == e) {
    return slope;
  }
  return multiply(scalar(1 / std::log(base_ == two ? 2.0 : 10.0), slope), slope, stream());
}

array Sqrt::apply(const std::vector<array>& inputs) const {
  return recip_ ? rsqrt(inputs[0], stream()) : sqrt(inputs[0], stream());
}

array Sqrt::partial(int, const std::vector<array>& inputs, const array& out, const array& t) const {
  if (recip_) {
    array slope = multiply(scalar(-0.5, out), divide(out, inputs[0], stream()), stream());
    return multiply(t, slope, stream());
  }
  return divide(multiply(scalar(0.5, t), t, stream()), out, stream());
}

array AsType::apply(const std::vector<array>& inputs) const {
  return astype(inputs[0], dtype_, stream());
}

// vjp casts back to the input's type.
array AsType::partial(int, const std::vector<array>& inputs, const array& out,
                      const array& t) const {
  if (!issubdtype(inputs[0].dtype(), inexact) || !issubdtype(dtype_, inexact)) {
    return zeros_like(out, stream());
  }
  return t.dtype() == inputs[0].dtype() ? astype(t, dtype_, stream()) : t;
}

// ---- functions of complex numbers that have no complex derivative ----

array Abs::apply(const std::vector<array>& inputs) const { return abs(inputs[0], stream()); }
array Conjugate::apply(const std::vector<array>& inputs) const {
  return conjugate(inputs[0], stream());
}
array Real::apply(const std::vector<array>& inputs) const { return real(inputs[0], stream()); }
array Imag::apply(const std::vector<array>& inputs) const { return imag(inputs[0], stream()); }

// A cotangent is real where the output is, a tangent of a complex input is complex: that tells the
// modes apart.
array Abs::partial(int, const std::vector<array>& inputs, const array& out, const array& t) const {
  const array& x = inputs[0];
  if (x.dtype() != complex64) {
    return multiply(t, sign(x, stream()), stream());
  }
  if (t.dtype() == complex64) {
    array product = real(multiply(conjugate(x, stream()), t, stream()), stream());
    return where(equal(out, scalar(0, out), stream()), abs(t, stream()),
                 divide(product, out, stream()), stream());
  }
  return multiply(t, conjugate(sign(x, stream()), stream()), stream());  // x comes conjugated
}

array Conjugate::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return conjugate(t, stream());
}

array Real::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return t.dtype() == complex64 ? real(t, stream()) : astype(t, complex64, stream());
}

array Imag::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return t.dtype() == complex64 ? imag(t, stream())
                                : multiply(array(complex64_t{0, 1}), t, stream());
}

}  // namespace mlx::core
