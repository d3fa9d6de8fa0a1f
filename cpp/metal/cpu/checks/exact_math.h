// Functions of Metal's math library in float64.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "metal/api.h"

namespace metal::cpu {

METAL_API bool has_exact_math(std::string_view name, size_t operands);
// Of a function that there is.
double exact_math(std::string_view name, std::span<const double> operands);

}  // namespace metal::cpu
