// Checks of the arguments of quantised operations.
#pragma once

#include <optional>
#include <string>

#include "mlx/array.h"
#include "mlx/primitives/quantization.h"

namespace mlx::core {

// The mode with this name; its default group size and bits if none are given.
Quantization quantization_of(const std::string& op, const std::string& mode,
                             std::optional<int> group_size, std::optional<int> bits);

// Checks a matrix, or matrices, from `quantize`.
void check_quantized(const std::string& op, const Quantization& q, const array& w,
                     const array& scales, const std::optional<array>& biases);

// Checks a global scale: a scalar, for the mode nvfp4 only.
void check_global_scale(const std::string& op, const char* name, const Quantization& q,
                        const std::optional<array>& scale);

// Checks matrices of floats whose rows must consist of whole groups.
void check_groups(const std::string& op, const char* name, const array& a, const Quantization& q);

// Checks for float16, bfloat16 or float32.
void check_quantizable(const std::string& op, const char* name, Dtype dtype);

}  // namespace mlx::core
