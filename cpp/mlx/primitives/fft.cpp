// Discrete Fourier transforms: shapes, derivatives, vmap.
#include "mlx/primitives/fft.h"

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

std::vector<Shape> FFT::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  if (kind_ == FFTKind::RealToComplex) shape[axes_[0]] = shape[axes_[0]] / 2 + 1;
  if (kind_ == FFTKind::ComplexToReal) shape[axes_[0]] = length_;
  return {shape};
}

// Applies a transform with the same factor and the given parameters.
array FFT::apply(const array& a, FFTKind kind, std::vector<int> axes, bool inverse,
                 int length) const {
  auto primitive = std::make_shared<FFT>(stream(), kind, std::move(axes), inverse, length, scale_);
  return array(primitive->output_shapes({a})[0],
               kind == FFTKind::ComplexToReal ? float32 : complex64, primitive, {a});
}

std::vector<array> FFT::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                            const std::vector<int>&) {
  return {apply(tangents[0], kind_, axes_, inverse_, length_)};
}

// The other half of the sums was not computed: its cotangent is zero.
array FFT::from_half(const array& half) const {
  const int missing = length_ - half.shape(axes_[0]);
  array full = pad(half, axes_, {0}, {missing}, scalar(0, half), "constant", stream());
  return real(apply(full, FFTKind::Complex, axes_, true, 0), stream());
}

// Each element of the half also represents its conjugate, except the first one and the last one of
// an even length.
array FFT::to_half(const array& real) const {
  const Stream& s = stream();
  array sums = apply(real, FFTKind::RealToComplex, axes_, false, length_);
  const int count = sums.shape(axes_[0]);
  array number = arange(count, s);
  array alone = logical_or(equal(number, array(0), s),
                           equal(multiply(number, array(2), s), array(length_), s), s);
  array weights = where(alone, array(1.0f), array(2.0f), s);
  Shape shape(sums.ndim(), 1);
  shape[axes_[0]] = count;
  return multiply(sums, reshape(weights, shape, s), s);
}

std::vector<array> FFT::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                            const std::vector<int>&, const std::vector<array>&) {
  switch (kind_) {
    case FFTKind::RealToComplex:
      return {from_half(cotangents[0])};
    case FFTKind::ComplexToReal:
      return {to_half(cotangents[0])};
    case FFTKind::Complex:
      break;
  }
  return {apply(cotangents[0], FFTKind::Complex, axes_, !inverse_, 0)};
}

VmapResult FFT::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front(inputs[0], axes[0], stream());
  return {{apply(a, kind_, shifted(axes_), inverse_, length_)}, {0}};
}

}  // namespace mlx::core
