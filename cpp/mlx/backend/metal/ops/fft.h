// Fourier transforms on a device that has memory of its own.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/primitives/fft.h"
#include "mlx/stream.h"

namespace mlx::core {

struct Transform {
  FFTKind kind;
  std::vector<int> axes;
  bool inverse;
  float scale;
};

// Transforms `in` into `out`, which has memory, with a library of the stream's device. Returns
// false, and has done nothing, if there is none that does so.
bool transform_on_device(const Transform& transform, const array& in, array& out, Stream s);

}  // namespace mlx::core
