// Fourier transforms that a library of the device computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace metal {

enum class TransformKind { ComplexForward, ComplexInverse, RealToComplex, ComplexToReal };

// `batch` transforms, without factors, of arrays that lie one after the other, row by row. A
// transform of real numbers has one axis; on its complex side are the first n / 2 + 1 of n sums.
struct FourierTransform {
  TransformKind kind = TransformKind::ComplexForward;
  std::vector<int64_t> lengths;  // of one to three axes
  int64_t batch = 1;
  // If it is not 1, the transforms have one axis and are interleaved: element i of transform j is
  // at i * stride + j.
  int64_t stride = 1;
};

// How a library computes one kind of transform.
class FourierTransformPlan {
 public:
  virtual ~FourierTransformPlan() = default;

  virtual size_t workspace_bytes() const = 0;
  // The work of a LibraryCall. Its buffers are the input, the output, and workspace of that size.
  // Complex transforms may have the same input and output; ComplexToReal may destroy its input.
  virtual void start(void* queue, void* const* buffers) const = 0;
};

}  // namespace metal
