// What the evaluation of fused operations shares.
#pragma once

#include <vector>

#include "mlx/primitives/compiled.h"

namespace mlx::core {

// The inputs that are not scalars.
std::vector<const array*> walked(const std::vector<array>& inputs);

// Whether the arrays have the same order of elements, without gaps.
bool form_a_line(const std::vector<const array*>& arrays);

// Runs the operations in order, each with its own kernel.
void run_one_by_one(const Trace& body, const std::vector<array>& inputs,
                    std::vector<array>& outputs, Stream s);

}  // namespace mlx::core
