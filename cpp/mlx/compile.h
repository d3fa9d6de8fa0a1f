// compile: functions whose graph could be built once. At present every call builds it again, which
// gives the same results.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

enum class CompileMode { disabled, no_simplify, no_fuse, enabled };

std::function<std::vector<array>(const std::vector<array>&)> compile(
    std::function<std::vector<array>(const std::vector<array>&)> fun, bool shapeless = false);
void disable_compile();
void enable_compile();
void set_compile_mode(CompileMode mode);

}  // namespace mlx::core
