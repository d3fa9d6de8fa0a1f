// Elementwise operations of two arrays.
#include "mlx/ops/binary.h"

#include <limits>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/binary.h"

namespace mlx::core {

namespace {

template <typename P, typename... State>
array binary(const array& a, const array& b, Dtype in_type, std::optional<Dtype> out_type,
             StreamOrDevice s, State&&... state) {
  Stream stream = to_stream(s);
  auto inputs = cast_and_broadcast({a, b}, in_type, stream);
  return elementwise<P>(std::move(inputs), out_type.value_or(in_type), stream,
                        std::forward<State>(state)...);
}

Dtype common(const array& a, const array& b) { return promote_types(a.dtype(), b.dtype()); }

array bitwise(const array& a, const array& b, BitwiseBinary::Op op, const char* name,
              StreamOrDevice s) {
  check_integral(a, name, true);
  check_integral(b, name, true);
  Dtype dtype = common(a, b);
  bool shift = op == BitwiseBinary::LeftShift || op == BitwiseBinary::RightShift;
  if (shift && dtype == bool_) {
    dtype = uint8;
  }
  return binary<BitwiseBinary>(a, b, dtype, {}, s, op);
}

}  // namespace

#define ARITHMETIC(function, PRIMITIVE, dtype)                       \
  array function(const array& a, const array& b, StreamOrDevice s) { \
    return binary<PRIMITIVE>(a, b, dtype, {}, s);                    \
  }
ARITHMETIC(add, Add, common(a, b))
ARITHMETIC(subtract, Subtract, common(a, b))
ARITHMETIC(multiply, Multiply, common(a, b))
ARITHMETIC(divide, Divide, at_least_float(common(a, b)))
ARITHMETIC(power, Power, common(a, b))
ARITHMETIC(maximum, Maximum, common(a, b))
ARITHMETIC(minimum, Minimum, common(a, b))
ARITHMETIC(logaddexp, LogAddExp, at_least_float(common(a, b)))
#undef ARITHMETIC

#define COMPARISON(function, PRIMITIVE, dtype)                       \
  array function(const array& a, const array& b, StreamOrDevice s) { \
    return binary<PRIMITIVE>(a, b, dtype, bool_, s);                 \
  }
COMPARISON(equal, Equal, common(a, b))
COMPARISON(not_equal, NotEqual, common(a, b))
COMPARISON(less, Less, common(a, b))
COMPARISON(less_equal, LessEqual, common(a, b))
COMPARISON(greater, Greater, common(a, b))
COMPARISON(greater_equal, GreaterEqual, common(a, b))
COMPARISON(logical_and, LogicalAnd, bool_)
COMPARISON(logical_or, LogicalOr, bool_)
COMPARISON(logical_xor, NotEqual, bool_)
#undef COMPARISON

array arctan2(const array& a, const array& b, StreamOrDevice s) {
  check_real(a, "arctan2");
  check_real(b, "arctan2");
  return binary<ArcTan2>(a, b, at_least_float(common(a, b)), {}, s);
}

array remainder(const array& a, const array& b, StreamOrDevice s) {
  check_real(a, "remainder");
  check_real(b, "remainder");
  return binary<Remainder>(a, b, common(a, b), {}, s);
}

array floor_divide(const array& a, const array& b, StreamOrDevice s) {
  Dtype dtype = common(a, b);
  if (issubdtype(dtype, inexact)) {
    return floor(divide(a, b, s), s);
  }
  return issubdtype(dtype, signedinteger) ? divmod(a, b, s)[0] : binary<Divide>(a, b, dtype, {}, s);
}

std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s) {
  check_real(a, "divmod");
  check_real(b, "divmod");
  Stream stream = to_stream(s);
  Dtype dtype = common(a, b);
  auto inputs = cast_and_broadcast({a, b}, dtype, stream);
  Shape shape = inputs[0].shape();
  return array::make_arrays({shape, shape}, {dtype, dtype}, std::make_shared<DivMod>(stream),
                            inputs);
}

array bitwise_and(const array& a, const array& b, StreamOrDevice s) {
  return bitwise(a, b, BitwiseBinary::And, "bitwise_and", s);
}

array bitwise_or(const array& a, const array& b, StreamOrDevice s) {
  return bitwise(a, b, BitwiseBinary::Or, "bitwise_or", s);
}

array bitwise_xor(const array& a, const array& b, StreamOrDevice s) {
  return bitwise(a, b, BitwiseBinary::Xor, "bitwise_xor", s);
}

array left_shift(const array& a, const array& b, StreamOrDevice s) {
  return bitwise(a, b, BitwiseBinary::LeftShift, "left_shift", s);
}

array right_shift(const array& a, const array& b, StreamOrDevice s) {
  return bitwise(a, b, BitwiseBinary::RightShift, "right_shift", s);
}

array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s) {
  if (a.shape() != b.shape()) {
    return array(false);
  }
  Dtype dtype = common(a, b);
  equal_nan = equal_nan && issubdtype(dtype, inexact);
  return all(binary<Equal>(a, b, dtype, bool_, s, equal_nan), false, s);
}

array isclose(const array& a, const array& b, double rtol, double atol, bool equal_nan,
              StreamOrDevice s) {
  Dtype dtype = at_least_float(common(a, b));
  Dtype real_type = dtype == complex64 ? float32 : dtype;
  array x = astype(a, dtype, s);
  array y = astype(b, dtype, s);
  array tolerance = add(array(atol, real_type), multiply(array(rtol, real_type), abs(y, s), s), s);
  array close = less_equal(abs(subtract(x, y, s), s), tolerance, s);
  // Infinities are close to themselves only.
  array infinite = logical_or(isinf(x, s), isinf(y, s), s);
  close = where(infinite, equal(x, y, s), close, s);
  return equal_nan ? logical_or(close, logical_and(isnan(x, s), isnan(y, s), s), s) : close;
}

array allclose(const array& a, const array& b, double rtol, double atol, bool equal_nan,
               StreamOrDevice s) {
  return all(isclose(a, b, rtol, atol, equal_nan, s), false, s);
}

}  // namespace mlx::core
