// Structs of operations of three operands, like those of binary_ops.h.
#pragma once

#include "mlx/backend/metal/kernels/binary_ops.h"

struct Clip {
  template <typename T>
  static T apply(T x, T low, T high) {
    return Minimum::apply(Maximum::apply(x, low), high);
  }
};
