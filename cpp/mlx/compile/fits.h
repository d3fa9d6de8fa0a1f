// Whether primitives can be applied to inputs for which they were not made.
#pragma once

#include <vector>

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Whether the number and the shapes of the inputs are such that output_shapes can be asked for, and
// that evaluation stays within the inputs. Primitives whose class is not known here fit always.
// Inputs of elementwise ones may still have to be broadcast.
bool fits(const Primitive& primitive, const std::vector<array>& inputs);

}  // namespace mlx::core
