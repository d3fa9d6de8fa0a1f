// Operations that make arrays.
#include "mlx/ops/creation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/creation.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s) {
  if (dtype == complex64) {
    return astype(arange(start, stop, step, float32, s), complex64, s);
  }
  if (dtype == bool_) {
    invalid_argument("arange", message("Not supported for ", dtype, "."));
  }
  if (std::isnan(start) || std::isnan(stop) || std::isnan(step) || std::isinf(start) || step == 0) {
    invalid_argument("arange", "Start, stop and step must be numbers, and step must not be 0.");
  }
  if (std::isinf(stop) && !std::isinf(step) && (stop > start) == (step > 0)) {
    invalid_argument("arange", "An infinite range cannot be made.");
  }
  double length = std::isinf(step) ? (((stop > start) == (step > 0) && stop != start) ? 1 : 0)
                                   : std::max(std::ceil((stop - start) / step), 0.0);
  if (length > std::numeric_limits<int32_t>::max()) {
    invalid_argument("arange", "The range has too many elements.");
  }
  return array(Shape{static_cast<ShapeElem>(length)}, dtype,
               std::make_shared<Arange>(to_stream(s), start, stop, std::isinf(step) ? 0 : step),
               {});
}

array arange(double start, double stop, Dtype dtype, StreamOrDevice s) {
  return arange(start, stop, 1.0, dtype, s);
}
array arange(double start, double stop, double step, StreamOrDevice s) {
  return arange(start, stop, step, float32, s);
}
array arange(double start, double stop, StreamOrDevice s) {
  return arange(start, stop, 1.0, float32, s);
}
array arange(double stop, Dtype dtype, StreamOrDevice s) {
  return arange(0.0, stop, 1.0, dtype, s);
}
array arange(double stop, StreamOrDevice s) { return arange(0.0, stop, 1.0, float32, s); }
array arange(int start, int stop, int step, StreamOrDevice s) {
  return arange(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step),
                int32, s);
}
array arange(int start, int stop, StreamOrDevice s) { return arange(start, stop, 1, s); }
array arange(int stop, StreamOrDevice s) { return arange(0, stop, 1, s); }

array linspace(double start, double stop, int num, Dtype dtype, StreamOrDevice s) {
  return linspace(start, stop, num, true, dtype, s);
}

array linspace(double start, double stop, int num, bool endpoint, Dtype dtype, StreamOrDevice s) {
  if (num < 0) {
    invalid_argument("linspace",
                     message("The number of samples must not be negative, but is ", num, "."));
  }
  Dtype type = dtype == float64 ? float64 : float32;
  int steps = endpoint ? num - 1 : num;
  if (num <= 1) {
    return astype(full(Shape{num}, array(start, type), s), dtype, s);
  }
  // Interpolates between both ends, so that each is reached exactly.
  array t = divide(arange(0, num, 1, s), array(steps, type), s);
  array from_start = multiply(subtract(array(1, type), t, s), array(start, type), s);
  return astype(add(from_start, multiply(t, array(stop, type), s), s), dtype, s);
}

namespace {

array full_of(const array& source, StreamOrDevice s) {
  return array(source.shape(), source.dtype(), std::make_shared<Full>(to_stream(s)), {source});
}

}  // namespace

array full(Shape shape, array vals, Dtype dtype, StreamOrDevice s) {
  if (std::any_of(shape.begin(), shape.end(), [](int n) { return n < 0; })) {
    invalid_argument("full", message("Negative dimensions are not allowed: shape ", shape, "."));
  }
  Stream stream = to_stream(s);
  return full_of(broadcast_to(astype(std::move(vals), dtype, stream), shape, stream), stream);
}

array full(Shape shape, array vals, StreamOrDevice s) {
  Dtype dtype = vals.dtype();
  return full(std::move(shape), std::move(vals), dtype, s);
}

array full_like(const array& a, array vals, Dtype dtype, StreamOrDevice s) {
  if (!detail::InTracing::in_dynamic_tracing()) {
    return full(a.shape(), std::move(vals), dtype, s);
  }
  Stream stream = to_stream(s);
  return full_of(broadcast_arrays({astype(std::move(vals), dtype, stream), a}, stream)[0], stream);
}

array full_like(const array& a, array vals, StreamOrDevice s) {
  return full_like(a, std::move(vals), a.dtype(), s);
}

array zeros(const Shape& shape, Dtype dtype, StreamOrDevice s) {
  return full(shape, array(0, dtype), s);
}
array zeros_like(const array& a, StreamOrDevice s) { return full_like(a, array(0, a.dtype()), s); }
array ones(const Shape& shape, Dtype dtype, StreamOrDevice s) {
  return full(shape, array(1, dtype), s);
}
array ones_like(const array& a, StreamOrDevice s) { return full_like(a, array(1, a.dtype()), s); }

namespace {

void check_matrix_size(int n, int m, const char* op) {
  if (n < 0 || m < 0) {
    invalid_argument(op, message("Numbers of rows and columns must not be negative, but are ", n,
                                 " and ", m, "."));
  }
}

// For each of n rows, the column of the k-th diagonal in a matrix with m columns.
array diagonal_columns(int n, int m, int k, StreamOrDevice s) {
  const double first = std::clamp(k, -n, m);
  const Dtype type = first + n > std::numeric_limits<int32_t>::max() ? int64 : int32;
  return expand_dims(arange(first, first + n, type, s), 1, s);
}

}  // namespace

array eye(int n, int m, int k, Dtype dtype, StreamOrDevice s) {
  check_matrix_size(n, m, "eye");
  return astype(equal(diagonal_columns(n, m, k, s), arange(0, m, 1, s), s), dtype, s);
}

array identity(int n, Dtype dtype, StreamOrDevice s) { return eye(n, n, 0, dtype, s); }

array tri(int n, int m, int k, Dtype type, StreamOrDevice s) {
  check_matrix_size(n, m, "tri");
  return astype(greater_equal(diagonal_columns(n, m, k, s), arange(0, m, 1, s), s), type, s);
}

array tril(array x, int k, StreamOrDevice s) {
  if (x.ndim() < 2) {
    invalid_argument("tril", message("The array must have at least 2 dimensions, but has shape ",
                                     x.shape(), "."));
  }
  return where(tri(x.shape(-2), x.shape(-1), k, bool_, s), x, array(0, x.dtype()), s);
}

array triu(array x, int k, StreamOrDevice s) {
  if (x.ndim() < 2) {
    invalid_argument("triu", message("The array must have at least 2 dimensions, but has shape ",
                                     x.shape(), "."));
  }
  k = std::max(k, -x.shape(-2));
  return where(tri(x.shape(-2), x.shape(-1), k - 1, bool_, s), array(0, x.dtype()), x, s);
}

namespace {

// cos(2 pi i j / (M - 1)) for i < M
array window_cosine(int M, int j, StreamOrDevice s) {
  return cos(multiply(arange(0, M, 1, s), array(2 * std::numbers::pi * j / (M - 1), float32), s),
             s);
}

}  // namespace

array bartlett(int M, StreamOrDevice s) {
  if (M <= 1) {
    return ones({std::max(M, 0)}, float32, s);
  }
  array from_middle =
      subtract(multiply(arange(0, M, 1, s), array(2.0f / (M - 1)), s), array(1.0f), s);
  return subtract(array(1.0f), abs(from_middle, s), s);
}

array hanning(int M, StreamOrDevice s) {
  if (M <= 1) {
    return ones({std::max(M, 0)}, float32, s);
  }
  return multiply(array(0.5f), subtract(array(1.0f), window_cosine(M, 1, s), s), s);
}

array hamming(int M, StreamOrDevice s) {
  if (M <= 1) {
    return ones({std::max(M, 0)}, float32, s);
  }
  return subtract(array(0.54f), multiply(array(0.46f), window_cosine(M, 1, s), s), s);
}

array blackman(int M, StreamOrDevice s) {
  if (M <= 1) {
    return ones({std::max(M, 0)}, float32, s);
  }
  array first = subtract(array(0.42f), multiply(array(0.5f), window_cosine(M, 1, s), s), s);
  return add(first, multiply(array(0.08f), window_cosine(M, 2, s), s), s);
}

}  // namespace mlx::core
