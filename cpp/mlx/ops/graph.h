// Operations that act on the graph only.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

// Stops gradients.
array stop_gradient(const array& a, StreamOrDevice s = {});
// Returns the inputs, which become available only after the dependencies are evaluated.
std::vector<array> depends(const std::vector<array>& inputs,
                           const std::vector<array>& dependencies);

}  // namespace mlx::core
