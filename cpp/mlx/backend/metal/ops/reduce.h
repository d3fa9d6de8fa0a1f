// What the evaluation of reductions shares.
#pragma once

#include <functional>

#include "mlx/backend/metal/reduce_plan.h"
#include "mlx/primitives/reduce.h"

namespace mlx::core {

// Whether the kernels take elements of `in` for results of `out`; others must be converted before.
bool reduces_directly(Reduce::ReduceType type, Dtype in, Dtype out);

// The type of what the first pass computes.
Dtype type_of_first_pass(const ReducePlan& plan, Reduce::ReduceType type, Dtype out);

// Encodes the kernel of a pass.
using ReducePass = std::function<void(const ReducePlan& plan, array& out)>;

// Runs the plan and what must follow it. Only the first pass reads the elements.
void run_passes(ReducePlan plan, Reduce::ReduceType type, array& out, Stream s,
                const ReducePass& first);

}  // namespace mlx::core
