// The kernels of a CompiledReduce primitive: reductions of what a group of elementwise operations
// computes.
#pragma once

#include <string>
#include <vector>

#include "mlx/backend/metal/background_pipelines.h"
#include "mlx/backend/metal/compiled_text.h"
#include "mlx/backend/metal/reduce_plan.h"

namespace mlx::core {

// How a kernel of the plan reads an input.
struct ReducedInput {
  enum class Access : char {
    Scalar = 's',      // the same element everywhere
    SideBySide = 'r',  // neighbouring threads read neighbouring elements
    Same = 'c'         // all threads of a SIMD-group read the same element
  };
  Access access;
  int set;  // of the plan's strides
};

class CompiledReduceKernels {
 public:
  CompiledReduceKernels(const Trace& elementwise, std::string label);

  // Returns the kernel with results of the type, or null until it is compiled. `op` is the functor
  // of the reduction.
  MTL::ComputePipelineState* find(const ReducePlan& plan, const std::vector<ReducedInput>& inputs,
                                  const std::string& op, Dtype out, Device device);

 private:
  std::string source(const ReducePlan& plan, const std::vector<ReducedInput>& inputs,
                     const std::string& op, const std::string& out) const;
  std::string chain(const ReducePlan& plan, const std::vector<ReducedInput>& inputs) const;

  std::string label_;
  CompiledText text_;
  PipelineVariants variants_;
};

}  // namespace mlx::core
