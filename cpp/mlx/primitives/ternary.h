// Elementwise functions of three arrays.
#pragma once

#include "mlx/primitives/elementwise.h"

namespace mlx::core {

// inputs: condition (bool), x, y -> x where the condition holds, else y
ELEMENTWISE_PRIMITIVE(Select)

}  // namespace mlx::core
