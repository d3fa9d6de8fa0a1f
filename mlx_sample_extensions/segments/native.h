// The loops of segments on the host. Row t of a segment is row rows[t], or row t without `rows`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "segments/primitives.h"

namespace mlx_sample::native {

struct Layout {
  const int32_t* offsets;
  size_t count;         // segments
  const int32_t* rows;  // or null
  size_t total;         // rows of all segments together
  size_t columns;
};

// 16-bit floats are float32 in registers and sums.
template <typename T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<mx::float16_t> {
  using type = float;
};
template <>
struct Accumulator<mx::bfloat16_t> {
  using type = float;
};

template <typename T>
void reduce(const T* x, const Layout& layout, Reduction reduction, T* y);

// Rows of any type, `bytes` long.
void spread(const char* g, const Layout& layout, size_t bytes, char* out);
template <typename T>
void spread_mean(const T* g, const Layout& layout, T* out);

template <typename T>
void share(const T* x, const T* y, const T* g, const Layout& layout, T* out);

// u: null, or the direction.
template <typename T>
void others(const T* x, const T* u, const Layout& layout, T* out);

}  // namespace mlx_sample::native
