// Matrix products on a device that has memory of its own.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

// out = alpha a b + beta out, for each element of a batch: with a library of the device, or with a
// kernel if there is none.
void multiply_on_device(const array& a, const array& b, array& out, double alpha, double beta,
                        Stream s);

// out = alpha a b + beta c; c has the shape of out.
void addmm_on_device(const array& a, const array& b, const array& c, array& out, double alpha,
                     double beta, Stream s);

// The inputs are those of the primitives GatherMM and SegmentedMM.
void gather_mm_on_device(const std::vector<array>& inputs, array& out, Stream s);
void segmented_mm_on_device(const std::vector<array>& inputs, array& out, Stream s);

}  // namespace mlx::core
