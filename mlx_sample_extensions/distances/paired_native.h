// Distances of listed pairs on the host.
#pragma once

#include <cstdint>

#include "distances/primitives.h"

namespace mlx_sample::native {

template <typename T>
struct PairsOf {
  const T* a;
  const T* b;
  const int32_t* i;  // not read by gradients
  const int32_t* j;
  size_t dims;
};

// The pairs of each row of a: those at offsets[row] and after it in the order.
struct PairsByRow {
  const int32_t* order;
  const int32_t* offsets;
  size_t rows;
  const float* lengths;  // of a and b as vectors, for the cosine
  const float* other_lengths;
};

template <typename T>
void paired_distances(const PairsOf<T>& pairs, size_t count, Metric metric, T* out);

template <typename T>
void paired_gradient(const PairsOf<T>& pairs, const PairsByRow& rows, const T* g, const T* d,
                     Metric metric, T* out);

}  // namespace mlx_sample::native
