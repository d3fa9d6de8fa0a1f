// Discrete Fourier transforms.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

enum class FFTKind { Complex, RealToComplex, ComplexToReal };

// scale * sum of x[j] * exp(-+ 2 pi i j k / n), with + if inverse. Complex: complex64 along all
// `axes`. RealToComplex: float32 along one axis; the output has the first n / 2 + 1 sums.
// ComplexToReal: the inverse, to float32 with `length` = n elements along the axis.
class FFT : public UnaryPrimitive {
 public:
  FFT(Stream stream, FFTKind kind, std::vector<int> axes, bool inverse, int length, double scale)
      : UnaryPrimitive(stream),
        kind_(kind),
        axes_(std::move(axes)),
        inverse_(inverse),
        length_(length),
        scale_(scale) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(FFT)
  DEFINE_STATE(FFT, kind_, axes_, inverse_, length_, scale_)
  DEFINE_OUTPUT_SHAPES()

 private:
  array apply(const array& a, FFTKind kind, std::vector<int> axes, bool inverse, int length) const;
  // The shape with the real side's full length.
  array from_half(const array& half) const;
  array to_half(const array& real) const;

  FFTKind kind_;
  std::vector<int> axes_;
  bool inverse_;
  int length_;
  double scale_;
};

}  // namespace mlx::core
