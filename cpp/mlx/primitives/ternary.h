// Elementwise functions of three arrays.
#pragma once

#include "mlx/primitives/elementwise.h"

namespace mlx::core {

// inputs: condition (bool), x, y -> x where the condition holds, else y
ELEMENTWISE_PRIMITIVE(Select)

// inputs: x, low, high -> minimum(maximum(x, low), high)
ELEMENTWISE_PRIMITIVE(Clip)

}  // namespace mlx::core
