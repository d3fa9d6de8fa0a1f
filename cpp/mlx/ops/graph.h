// Operations that act on the graph only.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

// No gradient flows through it.
array stop_gradient(const array& a, StreamOrDevice s = {});
// The inputs, available only once the dependencies are evaluated.
std::vector<array> depends(const std::vector<array>& inputs,
                           const std::vector<array>& dependencies);

}  // namespace mlx::core
