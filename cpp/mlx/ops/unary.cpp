// Elementwise operations of one array.
#include "mlx/ops/unary.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/shape.h"
#include "mlx/primitives/unary.h"

namespace mlx::core {

namespace {

// The types that elementwise.def names. `state` holds the primitive's parameters.
template <typename P, typename... State>
array of_inexact(const array& a, const char*, StreamOrDevice s, State... state) {
  Stream stream = to_stream(s);
  Dtype dtype = at_least_float(a.dtype());
  return elementwise<P>({astype(a, dtype, stream)}, dtype, stream, state...);
}

template <typename P>
array of_floating(const array& a, const char* op, StreamOrDevice s) {
  check_real(a, op);
  return of_inexact<P>(a, op, s);
}

// These operations do not change integers.
template <typename P>
array of_rounded(const array& a, const char* op, StreamOrDevice s) {
  check_real(a, op);
  return issubdtype(a.dtype(), inexact) ? elementwise<P>({a}, a.dtype(), to_stream(s)) : a;
}

template <typename P>
array of_any(const array& a, const char*, StreamOrDevice s) {
  return elementwise<P>({a}, a.dtype(), to_stream(s));
}

template <typename P>
array of_complex(const array& a, const char*, StreamOrDevice s) {
  return a.dtype() == complex64 ? elementwise<P>({a}, complex64, to_stream(s)) : a;
}

template <typename P>
array of_complex_to_real(const array& a, const char*, StreamOrDevice s) {
  return a.dtype() == complex64 ? elementwise<P>({a}, float32, to_stream(s)) : a;
}

template <typename P>
array of_logical(const array& a, const char*, StreamOrDevice s) {
  Stream stream = to_stream(s);
  return elementwise<P>({astype(a, bool_, stream)}, bool_, stream);
}

array infinity(const array& like) { return scalar(std::numeric_limits<double>::infinity(), like); }

array all_false(const array& a, StreamOrDevice s) { return zeros(a.shape(), bool_, s); }

}  // namespace

#define MLX_UNARY(Class, function, types, ...) \
  array function(const array& a, StreamOrDevice s) { return of_##types<Class>(a, #function, s); }
#define MLX_UNARY_CUSTOM(...)
#define MLX_UNARY_VARIANT(Kernel, function, types, on_double, doc, Class, ...) \
  array function(const array& a, StreamOrDevice s) {                           \
    return of_##types<Class>(a, #function, s, __VA_ARGS__);                    \
  }
#include "mlx/primitives/elementwise.def"

array trunc(const array& a, StreamOrDevice s) {
  check_real(a, "trunc");
  if (!issubdtype(a.dtype(), inexact)) {
    return a;
  }
  return where(less(a, scalar(0, a), s), ceil(a, s), floor(a, s), s);
}

array round(const array& a, int decimals, StreamOrDevice s) {
  bool exact = !issubdtype(a.dtype(), inexact);
  if (exact && decimals >= 0) {
    return a;
  }
  Stream stream = to_stream(s);
  if (decimals == 0) {
    return elementwise<Round>({a}, a.dtype(), stream);
  }
  Dtype dtype = at_least_float(a.dtype());
  array scale(std::pow(10.0, std::abs(decimals)), dtype);
  array x = astype(a, dtype, stream);
  array scaled = decimals > 0 ? multiply(x, scale, stream) : divide(x, scale, stream);
  array rounded = elementwise<Round>({scaled}, dtype, stream);
  array out = decimals > 0 ? divide(rounded, scale, stream) : multiply(rounded, scale, stream);
  return astype(out, a.dtype(), stream);
}

array round(const array& a, StreamOrDevice s) { return round(a, 0, s); }

array abs(const array& a, StreamOrDevice s) {
  if (a.dtype() == bool_ || issubdtype(a.dtype(), unsignedinteger)) {
    return a;
  }
  Dtype dtype = a.dtype() == complex64 ? float32 : a.dtype();
  return elementwise<Abs>({a}, dtype, to_stream(s));
}

array negative(const array& a, StreamOrDevice s) {
  if (a.dtype() == bool_) {
    invalid_argument("negative", "Not supported for bool, use logical_not instead.");
  }
  return elementwise<Negative>({a}, a.dtype(), to_stream(s));
}

array reciprocal(const array& a, StreamOrDevice s) {
  return divide(array(1.0f, at_least_float(a.dtype())), a, s);
}

array degrees(const array& a, StreamOrDevice s) {
  return multiply(a, array(180.0 / std::numbers::pi, at_least_float(a.dtype())), s);
}

array radians(const array& a, StreamOrDevice s) {
  return multiply(a, array(std::numbers::pi / 180.0, at_least_float(a.dtype())), s);
}

array bitwise_invert(const array& a, StreamOrDevice s) {
  check_integral(a, "bitwise_invert", true);
  return a.dtype() == bool_ ? logical_not(a, s)
                            : elementwise<BitwiseInvert>({a}, a.dtype(), to_stream(s));
}

array operator~(const array& a) { return bitwise_invert(a); }

array imag(const array& a, StreamOrDevice s) {
  return a.dtype() == complex64 ? elementwise<Imag>({a}, float32, to_stream(s)) : zeros_like(a, s);
}

array isnan(const array& a, StreamOrDevice s) {
  return issubdtype(a.dtype(), inexact) ? not_equal(a, a, s) : all_false(a, s);
}

array isinf(const array& a, StreamOrDevice s) {
  if (a.dtype() == complex64) {
    return logical_or(isinf(real(a, s), s), isinf(imag(a, s), s), s);
  }
  return issubdtype(a.dtype(), inexact) ? equal(abs(a, s), infinity(a), s) : all_false(a, s);
}

array isfinite(const array& a, StreamOrDevice s) {
  return logical_not(logical_or(isinf(a, s), isnan(a, s), s), s);
}

array isposinf(const array& a, StreamOrDevice s) {
  return issubdtype(a.dtype(), inexact) ? equal(a, infinity(a), s) : all_false(a, s);
}

array isneginf(const array& a, StreamOrDevice s) {
  return issubdtype(a.dtype(), inexact) ? equal(a, negative(infinity(a), s), s) : all_false(a, s);
}

array nan_to_num(const array& a, float nan, const std::optional<float> posinf,
                 const std::optional<float> neginf, StreamOrDevice s) {
  if (!issubdtype(a.dtype(), inexact)) {
    return a;
  }
  if (!posinf || !neginf) {
    check_real(a, "nan_to_num");  // complex numbers have no maximum and minimum
  }
  array high = scalar(posinf ? *posinf : finfo(a.dtype()).max, a);
  array low = scalar(neginf ? *neginf : finfo(a.dtype()).min, a);
  array out = where(isnan(a, s), scalar(nan, a), a, s);
  out = where(isposinf(a, s), high, out, s);
  return where(isneginf(a, s), low, out, s);
}

array astype(array a, Dtype dtype, StreamOrDevice s) {
  return a.dtype() == dtype ? a : elementwise<AsType>({std::move(a)}, dtype, to_stream(s), dtype);
}

array copy(array a, StreamOrDevice s) {
  Dtype dtype = a.dtype();
  return elementwise<Copy>({std::move(a)}, dtype, to_stream(s));
}

array view(const array& a, const Dtype& dtype, StreamOrDevice s) {
  if (a.dtype() == dtype) {
    return a;
  }
  Shape shape = a.shape();
  size_t from = a.dtype().size();
  size_t to = dtype.size();
  if (from != to) {
    if (shape.empty()) {
      invalid_argument(
          "view", "Changing the type of a scalar array is only supported for types of one size.");
    }
    size_t bytes = shape.back() * from;
    if (bytes % to != 0) {
      invalid_argument("view", message("The last axis of shape ", a.shape(), " of ", a.dtype(),
                                       " does not hold a whole number of ", dtype, "."));
    }
    shape.back() = checked_extent(bytes / to, "view");
  }
  return array(std::move(shape), dtype, std::make_shared<View>(to_stream(s), dtype), {a});
}

}  // namespace mlx::core
