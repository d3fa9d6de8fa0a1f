// Normalisation along the last axis.
#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::fast {

namespace {

void check_input(const array& x, const char* op) {
  if (x.ndim() == 0) invalid_argument(op, "The array must have at least 1 dimension.");
  if (!issubdtype(x.dtype(), floating)) {
    invalid_argument(op, message("The type must be a floating one, not ", x.dtype(), "."));
  }
}

void check_parameter(const std::optional<array>& parameter, const array& x, const char* name,
                     const char* op) {
  if (!parameter || (parameter->ndim() == 1 && parameter->shape(0) == x.shape(-1))) return;
  invalid_argument(op,
                   message(name, " must have the shape (", x.shape(-1), ") for an array of shape ",
                           x.shape(), ", not ", parameter->shape(), "."));
}

// What is summed up in.
Dtype sum_type(const array& x) { return x.dtype() == float64 ? float64 : float32; }

array mean_of_last(const array& x, const Stream& s) { return mean(x, -1, true, s); }

// x / sqrt(mean(x^2) + eps)
array divided_by_size(const array& x, float eps, const Stream& s) {
  array size = add(mean_of_last(square(x, s), s), scalar(eps, x), s);
  return multiply(x, rsqrt(size, s), s);
}

}  // namespace

array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_input(x, "rms_norm");
  check_parameter(weight, x, "weight", "rms_norm");
  const Dtype type = weight ? result_type(x, *weight) : x.dtype();
  array out = astype(divided_by_size(astype(x, sum_type(x), s), eps, s), type, s);
  return weight ? multiply(out, *weight, s) : out;
}

array layer_norm(const array& x, const std::optional<array>& weight,
                 const std::optional<array>& bias, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_input(x, "layer_norm");
  check_parameter(weight, x, "weight", "layer_norm");
  check_parameter(bias, x, "bias", "layer_norm");
  Dtype type = weight ? result_type(x, *weight) : x.dtype();
  if (bias) type = promote_types(type, bias->dtype());
  array wide = astype(x, sum_type(x), s);
  array out = astype(divided_by_size(subtract(wide, mean_of_last(wide, s), s), eps, s), type, s);
  if (weight) out = multiply(out, *weight, s);
  return bias ? add(out, *bias, s) : out;
}

}  // namespace mlx::core::fast
