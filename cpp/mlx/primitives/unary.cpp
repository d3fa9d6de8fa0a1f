// Elementwise functions of one array: their values and derivatives.
#include "mlx/primitives/unary.h"

#include <cmath>
#include <numbers>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

#define MLX_UNARY(Class, function, ...)                        \
  array Class::apply(const std::vector<array>& inputs) const { \
    return function(inputs[0], stream());                      \
  }
#define MLX_UNARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

// UNARY_RULE(class) { derivative } : x is the input, y the output, t the tangent, s the stream.
#define UNARY_RULE(PRIMITIVE)                                                         \
  static array PRIMITIVE##_derivative(const array& x, const array& y, const array& t, \
                                      const Stream& s);                               \
  array PRIMITIVE::partial(int, const std::vector<array>& inputs, const array& out,   \
                           const array& t) const {                                    \
    return PRIMITIVE##_derivative(inputs[0], out, t, stream());                       \
  }                                                                                   \
  static array PRIMITIVE##_derivative(                                                \
      [[maybe_unused]] const array& x, [[maybe_unused]] const array& y,               \
      [[maybe_unused]] const array& t, [[maybe_unused]] const Stream& s)

namespace {

array one_minus(const array& x, const Stream& s) { return subtract(scalar(1, x), x, s); }

array one_plus(const array& x, const Stream& s) { return add(scalar(1, x), x, s); }

}  // namespace

UNARY_RULE(ArcCos) { return negative(multiply(t, rsqrt(one_minus(square(x, s), s), s), s), s); }
UNARY_RULE(ArcSin) { return multiply(t, rsqrt(one_minus(square(x, s), s), s), s); }
UNARY_RULE(ArcTan) { return divide(t, one_plus(square(x, s), s), s); }
UNARY_RULE(ArcCosh) { return multiply(t, rsqrt(subtract(square(x, s), scalar(1, x), s), s), s); }
UNARY_RULE(ArcSinh) { return multiply(t, rsqrt(one_plus(square(x, s), s), s), s); }
UNARY_RULE(ArcTanh) { return divide(t, one_minus(square(x, s), s), s); }
UNARY_RULE(Cos) { return negative(multiply(t, sin(x, s), s), s); }
UNARY_RULE(Sin) { return multiply(t, cos(x, s), s); }
UNARY_RULE(Tan) { return multiply(t, one_plus(square(y, s), s), s); }
UNARY_RULE(Cosh) { return multiply(t, sinh(x, s), s); }
UNARY_RULE(Sinh) { return multiply(t, cosh(x, s), s); }
UNARY_RULE(Tanh) { return multiply(t, one_minus(square(y, s), s), s); }
UNARY_RULE(Exp) { return multiply(t, y, s); }
UNARY_RULE(Expm1) { return multiply(t, one_plus(y, s), s); }
UNARY_RULE(Log1p) { return divide(t, one_plus(x, s), s); }
UNARY_RULE(Sigmoid) { return multiply(t, multiply(y, one_minus(y, s), s), s); }
UNARY_RULE(Square) { return multiply(t, multiply(scalar(2, x), x, s), s); }
UNARY_RULE(Negative) { return negative(t, s); }
UNARY_RULE(Erf) {
  array slope =
      multiply(scalar(2 / std::sqrt(std::numbers::pi), x), exp(negative(square(x, s), s), s), s);
  return multiply(t, slope, s);
}
UNARY_RULE(ErfInv) {
  array slope = multiply(scalar(std::sqrt(std::numbers::pi) / 2, x), exp(square(y, s), s), s);
  return multiply(t, slope, s);
}

// Step functions: the derivative is 0 wherever it exists.
UNARY_RULE(BitwiseInvert) { return zeros_like(t, s); }
UNARY_RULE(Ceil) { return zeros_like(t, s); }
UNARY_RULE(Floor) { return zeros_like(t, s); }
UNARY_RULE(LogicalNot) { return zeros_like(t, s); }
UNARY_RULE(Round) { return zeros_like(t, s); }
UNARY_RULE(Sign) { return zeros_like(t, s); }

const char* Log::functor() const { return base_ == e ? "Log" : base_ == two ? "Log2" : "Log10"; }

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

array Copy::apply(const std::vector<array>& inputs) const { return copy(inputs[0], stream()); }

array Copy::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return t;
}

array AsType::apply(const std::vector<array>& inputs) const {
  return astype(inputs[0], dtype_, stream());
}

// vjp casts back to the input's type. A cast to integers and back keeps the derivative.
array AsType::partial(int, const std::vector<array>& inputs, const array&, const array& t) const {
  return t.dtype() == inputs[0].dtype() ? astype(t, dtype_, stream()) : t;
}

// ---- functions of complex numbers that have no complex derivative ----

// A cotangent is real if the output is real, but the tangent of a complex input is complex: this
// tells forward mode from reverse mode.
UNARY_RULE(Abs) {
  if (x.dtype() != complex64) {
    return multiply(t, sign(x, s), s);
  }
  if (t.dtype() == complex64) {
    array product = real(multiply(conjugate(x, s), t, s), s);
    return where(equal(y, scalar(0, y), s), abs(t, s), divide(product, y, s), s);
  }
  return multiply(t, conjugate(sign(x, s), s), s);  // vjp passes the conjugate of x
}

UNARY_RULE(Conjugate) { return conjugate(t, s); }

UNARY_RULE(Real) { return t.dtype() == complex64 ? real(t, s) : astype(t, complex64, s); }

UNARY_RULE(Imag) {
  return t.dtype() == complex64 ? imag(t, s) : multiply(array(complex64_t{0, 1}), t, s);
}

#undef UNARY_RULE

}  // namespace mlx::core
