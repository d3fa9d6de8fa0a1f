// Elementwise operations of two arrays.
#include "mlx/ops/binary.h"

#include <limits>
#include <stdexcept>

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
  std::vector<array> inputs;  // a list in braces would be copied
  inputs.reserve(2);
  inputs.push_back(a);
  inputs.push_back(b);
  inputs = cast_and_broadcast(std::move(inputs), in_type, stream);
  return elementwise<P>(std::move(inputs), out_type.value_or(in_type), stream,
                        std::forward<State>(state)...);
}

Dtype common(const array& a, const array& b) { return promote_types(a.dtype(), b.dtype()); }

// The types that elementwise.def names. `state` holds the primitive's parameters.
template <typename P>
array of_any(const array& a, const array& b, const char*, StreamOrDevice s) {
  return binary<P>(a, b, common(a, b), {}, s);
}

template <typename P>
array of_inexact(const array& a, const array& b, const char*, StreamOrDevice s) {
  return binary<P>(a, b, at_least_float(common(a, b)), {}, s);
}

template <typename P>
array of_floating(const array& a, const array& b, const char* op, StreamOrDevice s) {
  check_real(a, op);
  check_real(b, op);
  return of_inexact<P>(a, b, op, s);
}

template <typename P, typename... State>
array of_comparison(const array& a, const array& b, const char*, StreamOrDevice s, State... state) {
  return binary<P>(a, b, common(a, b), bool_, s, state...);
}

template <typename P>
array of_logical(const array& a, const array& b, const char*, StreamOrDevice s) {
  return binary<P>(a, b, bool_, {}, s);
}

// Throws std::runtime_error for other types, as MLX does. uint64 and signed integers have no common
// integer type.
Dtype common_integral(const array& a, const array& b, const char* op) {
  for (Dtype dtype : {a.dtype(), b.dtype(), common(a, b)}) {
    if (dtype == bool_ || issubdtype(dtype, integer)) continue;
    throw std::runtime_error(message("[", op,
                                     "] The types must be integer types or bool with one in "
                                     "common, not ",
                                     a.dtype(), " and ", b.dtype(), "."));
  }
  return common(a, b);
}

template <typename P, typename State>
array of_integral(const array& a, const array& b, const char* op, StreamOrDevice s, State state) {
  return binary<P>(a, b, common_integral(a, b, op), {}, s, state);
}

template <typename P, typename State>
array of_shift(const array& a, const array& b, const char* op, StreamOrDevice s, State state) {
  Dtype dtype = common_integral(a, b, op);
  return binary<P>(a, b, dtype == bool_ ? uint8 : dtype, {}, s, state);
}

}  // namespace

#define MLX_BINARY(Class, function, types, ...)                      \
  array function(const array& a, const array& b, StreamOrDevice s) { \
    return of_##types<Class>(a, b, #function, s);                    \
  }
#define MLX_BINARY_CUSTOM(...)
#define MLX_BINARY_VARIANT(Kernel, function, types, on_double, doc, Class, state) \
  array function(const array& a, const array& b, StreamOrDevice s) {              \
    return of_##types<Class>(a, b, #function, s, state);                          \
  }
#include "mlx/primitives/elementwise.def"

array divide(const array& a, const array& b, StreamOrDevice s) {
  return binary<Divide>(a, b, at_least_float(common(a, b)), {}, s);
}

array remainder(const array& a, const array& b, StreamOrDevice s) {
  check_real(a, "remainder");
  check_real(b, "remainder");
  return binary<Remainder>(a, b, common(a, b), {}, s);
}

array logical_xor(const array& a, const array& b, StreamOrDevice s) {
  return binary<NotEqual>(a, b, bool_, {}, s);
}

array floor_divide(const array& a, const array& b, StreamOrDevice s) {
  Dtype dtype = common(a, b);
  if (dtype == complex64) {  // complex numbers have no floor
    return divide(a, b, s);
  }
  if (issubdtype(dtype, inexact)) {
    return floor(stop_gradient(divide(a, b, s), s), s);  // a step function, also where b is 0
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
  // An infinity is close only to an equal one.
  array infinite = logical_or(isinf(x, s), isinf(y, s), s);
  close = where(infinite, equal(x, y, s), close, s);
  return equal_nan ? logical_or(close, logical_and(isnan(x, s), isnan(y, s), s), s) : close;
}

array allclose(const array& a, const array& b, double rtol, double atol, bool equal_nan,
               StreamOrDevice s) {
  return all(isclose(a, b, rtol, atol, equal_nan, s), false, s);
}

}  // namespace mlx::core
