// Convolutions on a device that has memory of its own.
#pragma once

#include "mlx/array.h"
#include "mlx/primitives/convolution.h"
#include "mlx/stream.h"

namespace mlx::core {

// Whether the stream's device computes convolutions of this type and number of spatial axes.
bool convolves_on_device(Dtype dtype, size_t spatial_axes, Stream s);

// Computes a part from the other two, `first` and `second` in the order of the parts, which are
// row-contiguous, into `out`, which has memory.
void convolve_on_device(ConvolutionPart part, const ConvolutionWindow& window, const array& first,
                        const array& second, array& out, Stream s);

}  // namespace mlx::core
