// The inner loops of sums of indexed products on the host, compiled for several kinds of
// processors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlx_sample {

enum class Element { Float32, Float16, BFloat16 };

// The most entries of a block: many use a matrix that was laid out for them, and fewer lie side by
// side in the caches.
inline constexpr int kMultiplyEntries = 240;
inline constexpr int kOuterEntries = 120;

// o[r][m] += sum over c of w[m][c] * x[r][c], where w lies by columns if `transposed`.
struct MultiplyBlock {
  Element type;
  int entries;
  const void* const* x;
  float* const* o;
  int64_t x_offset;  // elements to skip in each row
  int64_t o_offset;
  const void* w;
  int64_t w_stride;
  bool transposed;
  int columns;
  int depth;
};

// o[m][c] += sum over r of a[r][m] * b[r][c], or = for the first block.
struct OuterBlock {
  Element type;
  int entries;
  const void* const* a;
  const void* const* b;
  int64_t a_offset;
  int64_t b_offset;
  float* o;
  int64_t o_stride;
  int rows;
  int columns;
  bool first;
};

struct HostKernels {
  void (*multiply)(const MultiplyBlock& block);
  void (*outer)(const OuterBlock& block);
  void (*round)(const float* from, void* to, size_t count, Element type);
};

// The best that this processor has.
const HostKernels& host_kernels();

namespace host {
extern const HostKernels baseline;
extern const HostKernels avx2;
extern const HostKernels avx512;
}  // namespace host

}  // namespace mlx_sample
