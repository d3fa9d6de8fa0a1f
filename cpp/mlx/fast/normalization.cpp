// Normalisation along the last axis.
#include "mlx/primitives/normalization.h"

#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/transforms_impl.h"

namespace mlx::core::fast {

namespace {

// Returns the type of the result. A bias without a weight does not affect it.
Dtype check_input(const array& x, const std::optional<array>& weight,
                  const std::optional<array>& bias, const char* op) {
  if (x.ndim() == 0) invalid_argument(op, "The array must have at least 1 dimension.");
  Dtype type = weight ? result_type(x, *weight) : x.dtype();
  if (weight && bias) type = promote_types(type, bias->dtype());
  if (!issubdtype(type, floating)) {
    invalid_argument(op, message("The type must be a floating one, not ", type, "."));
  }
  return type;
}

void check_parameter(const std::optional<array>& parameter, const array& x, const char* name,
                     const char* op) {
  if (!parameter || (parameter->ndim() == 1 && parameter->shape(0) == x.shape(-1))) return;
  invalid_argument(op,
                   message(name, " must have the shape (", x.shape(-1), ") for an array of shape ",
                           x.shape(), ", not ", parameter->shape(), "."));
}

// Returns the parameter in float32, or an array of the default. Graphs for all shapes must not
// contain the length of a row, so there the default is a scalar.
array parameter_of(const std::optional<array>& parameter, float otherwise, const array& x,
                   const Stream& s) {
  Dtype type = x.dtype() == float64 ? float64 : float32;
  if (parameter) return astype(*parameter, type, s);
  if (detail::InTracing::in_dynamic_tracing()) return array(otherwise, type);
  return broadcast_to(array(otherwise, type), {x.shape(-1)}, s);
}

array normalize(const array& x, const std::optional<array>& weight,
                const std::optional<array>& bias, Dtype type, Normalization kind, const Stream& s) {
  array rows = astype(x, type, s);
  array w = parameter_of(weight, 1.0f, rows, s);
  // RMS normalisation has no bias: the kernel does not read it.
  array b = kind.centered ? parameter_of(bias, 0.0f, rows, s) : w;
  if (type == float64 || rows.size() == 0 || w.ndim() == 0 || b.ndim() == 0)
    return kind.compute(rows, w, b, s);
  return array(rows.shape(), type, std::make_shared<Normalize>(s, kind.centered, kind.eps),
               {rows, w, b});
}

}  // namespace

array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  const Dtype type = check_input(x, weight, {}, "rms_norm");
  check_parameter(weight, x, "weight", "rms_norm");
  return normalize(x, weight, {}, type, {false, eps}, s);
}

array layer_norm(const array& x, const std::optional<array>& weight,
                 const std::optional<array>& bias, float eps, StreamOrDevice to) {
  const Stream s = to_stream(to);
  const Dtype type = check_input(x, weight, bias, "layer_norm");
  check_parameter(weight, x, "weight", "layer_norm");
  check_parameter(bias, x, "bias", "layer_norm");
  return normalize(x, weight, bias, type, {true, eps}, s);
}

}  // namespace mlx::core::fast
