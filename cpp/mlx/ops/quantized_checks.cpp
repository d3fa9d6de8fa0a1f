// Checks of the arguments of quantised operations.
#include "mlx/ops/quantized_checks.h"

#include "mlx/errors.h"
#include "mlx/ops.h"

namespace mlx::core {

namespace {

Quantization defaults_of(const std::string& op, const std::string& mode) {
  if (mode == "affine") return {Quantization::Affine, 64, 4};
  if (mode == "mxfp4") return {Quantization::Mxfp4, 32, 4};
  if (mode == "mxfp8") return {Quantization::Mxfp8, 32, 8};
  if (mode == "nvfp4") return {Quantization::Nvfp4, 16, 4};
  invalid_argument(op, "Invalid quantization mode \"" + mode +
                           "\": it must be \"affine\", \"mxfp4\", \"mxfp8\" or \"nvfp4\".");
}

}  // namespace

Quantization quantization_of(const std::string& op, const std::string& mode,
                             std::optional<int> group_size, std::optional<int> bits) {
  const Quantization standard = defaults_of(op, mode);
  const Quantization q{standard.mode, group_size.value_or(standard.group_size),
                       bits.value_or(standard.bits)};
  if (!q.affine()) {
    if (q == standard) return q;
    invalid_argument(op, message("The mode ", mode, " has groups of ", standard.group_size,
                                 " numbers of ", standard.bits, " bits, but ", q.group_size,
                                 " and ", q.bits, " were asked for."));
  }
  if (q.group_size != 32 && q.group_size != 64 && q.group_size != 128) {
    invalid_argument(op, message("The group size ", q.group_size,
                                 " is not supported: it must be 32, 64 or 128."));
  }
  if (q.bits < 1 || q.bits == 7 || q.bits > 8) {
    invalid_argument(op, message("The number of bits ", q.bits,
                                 " is not supported: it must be 1, 2, 3, 4, 5, 6 or 8."));
  }
  return q;
}

void check_quantized(const std::string& op, const Quantization& q, const array& w,
                     const array& scales, const std::optional<array>& biases) {
  if (w.dtype() != uint32) {
    invalid_argument(
        op, message("The quantized matrix must have the type uint32, not ", w.dtype(), "."));
  }
  if (w.ndim() < 2) {
    invalid_argument(op, message("The quantized matrix must have at least 2 dimensions, but has "
                                 "the shape ",
                                 w.shape(), "."));
  }
  if (q.affine() != biases.has_value()) {
    invalid_argument(op, message("Biases must ", q.affine() ? "" : "not ", "be given in the mode ",
                                 q.mode_name(), "."));
  }
  if (q.affine()) {
    check_quantizable(op, "scales", scales.dtype());
    check_quantizable(op, "biases", biases->dtype());
  } else if (scales.dtype() != uint8) {
    invalid_argument(op, message("Scales of the mode ", q.mode_name(),
                                 " must have the type uint8, not ", scales.dtype(), "."));
  }
  if (biases && biases->shape() != scales.shape()) {
    invalid_argument(op, message("Scales and biases should have the same shape, but have ",
                                 scales.shape(), " and ", biases->shape(), "."));
  }
  const int64_t last = w.shape(-1);
  const bool fits = scales.ndim() == w.ndim() &&
                    std::equal(w.shape().begin(), w.shape().end() - 1, scales.shape().begin()) &&
                    last * 32 == int64_t{scales.shape(-1)} * q.group_size * q.bits;
  if (!fits) {
    invalid_argument(
        op, message("The shapes of the quantized matrix, ", w.shape(), ", and of the scales, ",
                    scales.shape(), ", do not fit together: the group size is ", q.group_size,
                    " with ", q.bits, " bits."));
  }
}

void check_global_scale(const std::string& op, const char* name, const Quantization& q,
                        const std::optional<array>& scale) {
  if (!scale) return;
  if (q.mode != Quantization::Nvfp4) {
    invalid_argument(op, message(name, " is for the mode nvfp4 only, not ", q.mode_name(), "."));
  }
  if (scale->size() != 1 || !issubdtype(scale->dtype(), floating)) {
    invalid_argument(op, message(name, " must be one floating number, but has the shape ",
                                 scale->shape(), " and the type ", scale->dtype(), "."));
  }
}

void check_groups(const std::string& op, const char* name, const array& a, const Quantization& q) {
  check_quantizable(op, name, a.dtype());
  if (a.ndim() < 2) {
    invalid_argument(
        op, message(name, " must have at least 2 dimensions, but has the shape ", a.shape(), "."));
  }
  if (a.shape(-1) % q.group_size != 0) {
    invalid_argument(
        op, message("The last dimension of ", name, " must be divisible by the group size ",
                    q.group_size, ", but the shape is ", a.shape(), "."));
  }
}

void check_quantizable(const std::string& op, const char* name, Dtype dtype) {
  if (dtype == float16 || dtype == bfloat16 || dtype == float32) return;
  invalid_argument(
      op, message("The type of ", name, " must be float16, bfloat16 or float32, not ", dtype, "."));
}

}  // namespace mlx::core
