// Distances of all pairs on the host.
#pragma once

#include <cstddef>

#include "distances/primitives.h"

namespace mlx_sample::native {

struct PairSizes {
  size_t batch;
  size_t rows;     // points of a
  size_t columns;  // points of b
  size_t dims;
};

template <typename T>
void distances(const float* a, const float* b, const PairSizes& sizes, Metric metric, T* out);

// ga, gb: null where that gradient is not wanted.
void distance_gradients(const float* a, const float* b, const float* d, const float* g,
                        const PairSizes& sizes, Metric metric, float* ga, float* gb);

}  // namespace mlx_sample::native
