// Functors of operations of three operands.
#pragma once

#include "mlx/backend/metal/kernels/binary_ops.h"

struct Clip : Functor<Clip> {
  template <typename T>
  static T apply(T x, T low, T high) {
    return Minimum::apply(Maximum::apply(x, low), high);
  }
};

struct Select {
  template <typename T>
  T operator()(bool condition, T x, T y) const {
    return condition ? x : y;
  }
};
