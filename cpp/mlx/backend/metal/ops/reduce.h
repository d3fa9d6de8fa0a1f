// What the evaluation of reductions shares.
#pragma once

#include <functional>

#include "mlx/backend/metal/reduce_plan.h"
#include "mlx/primitives/reduce.h"

namespace mlx::core {

// The kernels' operations have the numbers of Reduce::ReduceType, and these for variances.
constexpr int kCombineMoments = Reduce::Mean + 1, kVariance = Reduce::Mean + 2;

// Whether the kernels take elements of `in` for results of `out`; others must be converted before.
bool reduces_directly(Reduce::ReduceType type, Dtype in, Dtype out);

// The functor of the first pass (kernels/reduce_ops.h), and the type of its results.
struct FirstPass {
  const char* op;
  Dtype type;
};
FirstPass first_pass(const ReducePlan& plan, int op, Dtype out);

// The number of elements for a result, less `ddof`, and at least 0.
float divisor_of(size_t elements, size_t results, int ddof);

// Encodes the kernel of a pass.
using ReducePass = std::function<void(const ReducePlan& plan, array& out)>;

// Runs the plan and what must follow it. Only the first pass reads the elements.
void run_passes(ReducePlan plan, int op, array& out, Stream s, const ReducePass& first);

}  // namespace mlx::core
