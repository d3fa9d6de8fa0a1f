// What the evaluation of every operation needs: memory for results, and the package's kernels.
#pragma once

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "mlx/backend/metal/device.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Gives an output memory for its elements, row by row.
void allocate(mx::array& out);
void allocate(std::vector<mx::array>& outputs);

// Uninitialised memory for one evaluation: `temporary` lives until the stream has used it.
mx::array uninitialized(mx::Shape shape, mx::Dtype dtype);
mx::array temporary(mx::Shape shape, mx::Dtype dtype, mx::Stream s);

using FunctionConstant = std::variant<int, bool>;

// A kernel of the library beside this code, specialised by the function constants 0, 1, ...
MTL::ComputePipelineState* find_kernel(const std::string& name, mx::Stream s,
                                       std::initializer_list<FunctionConstant> constants = {});

}  // namespace mlx_sample
