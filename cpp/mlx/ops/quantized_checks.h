// What operations on numbers of few bits expect of their arguments.
#pragma once

#include <optional>
#include <string>

#include "mlx/array.h"
#include "mlx/primitives/quantization.h"

namespace mlx::core {

// The mode of a name, with its own group size and bits where none are given.
Quantization quantization_of(const std::string& op, const std::string& mode,
                             std::optional<int> group_size, std::optional<int> bits);

// Of a matrix, or matrices, that `quantize` has made.
void check_quantized(const std::string& op, const Quantization& q, const array& w,
                     const array& scales, const std::optional<array>& biases);

// A global scale is one number for the mode nvfp4.
void check_global_scale(const std::string& op, const char* name, const Quantization& q,
                        const std::optional<array>& scale);

// Matrices of floats whose rows have whole groups.
void check_groups(const std::string& op, const char* name, const array& a, const Quantization& q);

// float16, bfloat16 or float32.
void check_quantizable(const std::string& op, const char* name, Dtype dtype);

}  // namespace mlx::core
