// Elementwise functions of two and three arrays: their values and derivatives.
#include "mlx/primitives/binary.h"

#include <cmath>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"
#include "mlx/primitives/ternary.h"

namespace mlx::core {

#define MLX_BINARY(Class, function, ...)                       \
  array Class::apply(const std::vector<array>& inputs) const { \
    return function(inputs[0], inputs[1], stream());           \
  }
#define MLX_BINARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

// BINARY_RULE(class) { derivative by input `arg` } : a and b are the inputs, y the output, t the
// tangent, s the stream.
#define BINARY_RULE(PRIMITIVE)                                                                    \
  static array PRIMITIVE##_derivative(int arg, const array& a, const array& b, const array& y,    \
                                      const array& t, const Stream& s);                           \
  array PRIMITIVE::partial(int arg, const std::vector<array>& inputs, const array& out,           \
                           const array& t) const {                                                \
    return PRIMITIVE##_derivative(arg, inputs[0], inputs[1], out, t, stream());                   \
  }                                                                                               \
  static array PRIMITIVE##_derivative(                                                            \
      [[maybe_unused]] int arg, [[maybe_unused]] const array& a, [[maybe_unused]] const array& b, \
      [[maybe_unused]] const array& y, [[maybe_unused]] const array& t,                           \
      [[maybe_unused]] const Stream& s)

namespace {

// t where the condition holds, 0 elsewhere
array masked(const array& condition, const array& t, const Stream& s) {
  return where(condition, t, scalar(0, t), s);
}

}  // namespace

BINARY_RULE(Add) { return t; }
BINARY_RULE(Subtract) { return arg == 0 ? t : negative(t, s); }
BINARY_RULE(Multiply) { return multiply(t, arg == 0 ? b : a, s); }
BINARY_RULE(Divide) {
  return arg == 0 ? divide(t, b, s) : negative(divide(multiply(t, y, s), b, s), s);
}
BINARY_RULE(Power) {
  if (arg == 0) {
    // b * a^(b-1), with 0 for b = 0 even where a is 0
    array slope = multiply(b, power(a, subtract(b, scalar(1, b), s), s), s);
    return multiply(t, where(equal(b, scalar(0, b), s), scalar(0, slope), slope, s), s);
  }
  // a^b log(a), with 0 where a is 0
  array slope = where(equal(a, scalar(0, a), s), scalar(0, y), multiply(y, log(a, s), s), s);
  return multiply(t, slope, s);
}
BINARY_RULE(Remainder) {
  return arg == 0 ? t : negative(multiply(t, floor(divide(a, b, s), s), s), s);
}
BINARY_RULE(ArcTan2) {
  array norm = add(square(a, s), square(b, s), s);
  array slope = divide(t, norm, s);
  return arg == 0 ? multiply(slope, b, s) : negative(multiply(slope, a, s), s);
}
// Where both are equal, the second one gets the derivative.
BINARY_RULE(Maximum) { return masked(arg == 0 ? greater(a, b, s) : less_equal(a, b, s), t, s); }
BINARY_RULE(Minimum) { return masked(arg == 0 ? less(a, b, s) : greater_equal(a, b, s), t, s); }
BINARY_RULE(LogAddExp) {
  array share = arg == 0 ? sigmoid(subtract(a, b, s), s) : sigmoid(subtract(b, a, s), s);
  return multiply(t, share, s);
}

// Step functions: the derivative is 0 wherever it exists.
BINARY_RULE(NotEqual) { return zeros_like(t, s); }
BINARY_RULE(Less) { return zeros_like(t, s); }
BINARY_RULE(LessEqual) { return zeros_like(t, s); }
BINARY_RULE(Greater) { return zeros_like(t, s); }
BINARY_RULE(GreaterEqual) { return zeros_like(t, s); }
BINARY_RULE(LogicalAnd) { return zeros_like(t, s); }
BINARY_RULE(LogicalOr) { return zeros_like(t, s); }

#undef BINARY_RULE

array Equal::apply(const std::vector<array>& inputs) const {
  array same = equal(inputs[0], inputs[1], stream());
  if (!equal_nan_) {
    return same;
  }
  return logical_or(same,
                    logical_and(isnan(inputs[0], stream()), isnan(inputs[1], stream()), stream()),
                    stream());
}

array Equal::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return zeros_like(t, stream());
}

const char* BitwiseBinary::name() const {
  static constexpr const char* names[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift",
                                          "RightShift"};
  return names[op_];
}

array BitwiseBinary::apply(const std::vector<array>& inputs) const {
  switch (op_) {
    case And:
      return bitwise_and(inputs[0], inputs[1], stream());
    case Or:
      return bitwise_or(inputs[0], inputs[1], stream());
    case Xor:
      return bitwise_xor(inputs[0], inputs[1], stream());
    case LeftShift:
      return left_shift(inputs[0], inputs[1], stream());
    default:
      return right_shift(inputs[0], inputs[1], stream());
  }
}

array BitwiseBinary::partial(int, const std::vector<array>&, const array&, const array& t) const {
  return zeros_like(t, stream());
}

array Select::apply(const std::vector<array>& inputs) const {
  return where(inputs[0], inputs[1], inputs[2], stream());
}

array Select::partial(int arg, const std::vector<array>& inputs, const array& out,
                      const array& t) const {
  array zero(0, out.dtype());
  switch (arg) {
    case 0:
      return zeros_like(out, stream());
    case 1:
      return where(inputs[0], t, zero, stream());
    default:
      return where(inputs[0], zero, t, stream());
  }
}

array Clip::apply(const std::vector<array>& inputs) const {
  return clip(inputs[0], inputs[1], inputs[2], stream());
}

// As the derivatives of minimum and maximum: where both are equal, the second one gets it.
array Clip::partial(int arg, const std::vector<array>& inputs, const array&, const array& t) const {
  const Stream& s = stream();
  const array& low = inputs[1];
  const array& high = inputs[2];
  array raised = maximum(inputs[0], low, s);
  if (arg == 2) return masked(greater_equal(raised, high, s), t, s);
  array passes = arg == 0 ? greater(inputs[0], low, s) : less_equal(inputs[0], low, s);
  return masked(logical_and(passes, less(raised, high, s), s), t, s);
}

// ---- DivMod ----

std::vector<array> DivMod::jvp(const std::vector<array>& primals,
                               const std::vector<array>& tangents,
                               const std::vector<int>& argnums) {
  // The quotient is a step function; the remainder is a - b * quotient.
  array quotient = divmod(primals[0], primals[1], stream())[0];
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    accumulate(tangent,
               argnums[i] == 0 ? tangents[i]
                               : negative(multiply(tangents[i], quotient, stream()), stream()),
               stream());
  }
  return {zeros_like(quotient, stream()), *tangent};
}

std::vector<array> DivMod::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>& outputs) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    vjps.push_back(arg == 0 ? cotangents[1]
                            : negative(multiply(cotangents[1], outputs[0], stream()), stream()));
  }
  return vjps;
}

VmapResult DivMod::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front_or_new(inputs[0], axes[0], stream());
  array b = axis_in_front_or_new(inputs[1], axes[1], stream());
  return {divmod(a, b, stream()), {0, 0}};
}

}  // namespace mlx::core
