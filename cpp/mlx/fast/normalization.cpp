// Normalisation along the last axis.
#include "mlx/primitives/normalization.h"

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

// float32 of the parameter, or the same number for all of a row.
array parameter_of(const std::optional<array>& parameter, float otherwise, const array& x,
                   const Stream& s) {
  Dtype type = x.dtype() == float64 ? float64 : float32;
  return parameter ? astype(*parameter, type, s) : full({x.shape(-1)}, array(otherwise, type), s);
}

array normalize(const array& x, const std::optional<array>& weight,
                const std::optional<array>& bias, Normalization kind, const Stream& s) {
  Dtype type = weight ? result_type(x, *weight) : x.dtype();
  if (bias) type = promote_types(type, bias->dtype());
  array rows = astype(x, type, s);
  array w = parameter_of(weight, 1.0f, rows, s);
  array b = parameter_of(bias, 0.0f, rows, s);
  if (type == float64 || rows.size() == 0) return kind.compute(rows, w, b, s);
  return array(rows.shape(), type, std::make_shared<Normalize>(s, kind.centered, kind.eps),
               {rows, w, b});
}

}  // namespace

array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_input(x, "rms_norm");
  check_parameter(weight, x, "weight", "rms_norm");
  return normalize(x, weight, {}, {false, eps}, s);
}

array layer_norm(const array& x, const std::optional<array>& weight,
                 const std::optional<array>& bias, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_input(x, "layer_norm");
  check_parameter(weight, x, "weight", "layer_norm");
  check_parameter(bias, x, "bias", "layer_norm");
  return normalize(x, weight, bias, {true, eps}, s);
}

}  // namespace mlx::core::fast
