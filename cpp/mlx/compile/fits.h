// Whether primitives can be applied to other inputs than those for which they were made.
#pragma once

#include <vector>

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Whether the number and the shapes of the inputs are valid: output_shapes may be called, and
// evaluation stays within the inputs. The answer is true for classes of primitives that are not
// known here. Inputs of elementwise primitives may still have to be broadcast.
bool fits(const Primitive& primitive, const std::vector<array>& inputs);

}  // namespace mlx::core
