// Discrete Fourier transforms with PocketFFT.
#include <algorithm>

#include "metal/sanitizers.h"

#define POCKETFFT_NO_MULTITHREADING  // our own threads share the work
#if defined(METAL_ASAN) || defined(METAL_TSAN)
// With vectors, it asks for memory whose size is no multiple of its alignment, which the sanitizers
// refuse.
#define POCKETFFT_NO_VECTORS
#endif
#include <pocketfft_hdronly.h>

#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/metal/ops/fft.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/fft.h"

namespace mlx::core {

namespace {

constexpr size_t kElementsPerTask = 1 << 14;

// An array as PocketFFT takes it: strides in bytes.
template <typename T>
struct View {
  T* data;
  pocketfft::stride_t strides;

  View from(size_t axis, size_t first) const {
    auto* start =
        reinterpret_cast<const char*>(data) + static_cast<ptrdiff_t>(first) * strides[axis];
    return {reinterpret_cast<T*>(const_cast<char*>(start)), strides};
  }
};

template <typename T, typename Array>
View<T> view_of(Array& a) {
  View<T> view{reinterpret_cast<T*>(a.template data<char>()), {}};
  for (auto stride : a.strides())
    view.strides.push_back(stride * static_cast<ptrdiff_t>(sizeof(T)));
  return view;
}

// Calls transform(shape, in, out) for parts of the arrays. It splits the longest axis that is not
// transformed.
template <typename In, typename Out, typename Transform>
void in_parts(const pocketfft::shape_t& shape, size_t axis, const View<In>& in,
              const View<Out>& out, Transform&& transform) {
  size_t cut = axis == 0 ? 1 : 0, elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    elements *= shape[i];
    if (i != axis && shape[i] > shape[cut]) cut = i;
  }
  if (cut >= shape.size()) return transform(shape, in, out);
  const size_t grain = std::max<size_t>(1, kElementsPerTask * shape[cut] / elements);
  cpu::parallel_for(shape[cut], grain, [&](size_t first, size_t last) {
    auto part = shape;
    part[cut] = last - first;
    transform(part, in.from(cut, first), out.from(cut, first));
  });
}

using Complex = std::complex<float>;

void complex_transform(const pocketfft::shape_t& shape, const std::vector<int>& axes, bool forward,
                       float scale, View<const Complex> in, const View<Complex>& out) {
  for (int number : axes) {
    const auto axis = static_cast<size_t>(number);
    in_parts(shape, axis, in, out, [&](const auto& part, const auto& from, const auto& to) {
      pocketfft::c2c(part, from.strides, to.strides, {axis}, forward, from.data, to.data, scale);
    });
    in = {out.data, out.strides};
    scale = 1;
  }
}

void to_complex(const pocketfft::shape_t& shape, size_t axis, float scale,
                const View<const float>& in, const View<Complex>& out) {
  in_parts(shape, axis, in, out, [&](const auto& part, const auto& from, const auto& to) {
    pocketfft::r2c(part, from.strides, to.strides, axis, true, from.data, to.data, scale);
  });
}

void to_real(const pocketfft::shape_t& shape, size_t axis, float scale,
             const View<const Complex>& in, const View<float>& out) {
  in_parts(shape, axis, in, out, [&](const auto& part, const auto& from, const auto& to) {
    pocketfft::c2r(part, from.strides, to.strides, axis, false, from.data, to.data, scale);
  });
}

}  // namespace

MLX_EVAL(FFT) {
  allocate_output(out);
  if (out.size() == 0) return;
  const array& in = inputs[0];
  const auto scale = static_cast<float>(scale_);
  if (transform_on_device({kind_, axes_, inverse_, scale}, in, out, stream())) return;
  const Shape& real_side = kind_ == FFTKind::RealToComplex ? in.shape() : out.shape();
  const pocketfft::shape_t shape(real_side.begin(), real_side.end());
  const auto axis = static_cast<size_t>(axes_[0]);
  auto& encoder = cpu::get_command_encoder(stream());
  switch (kind_) {
    case FFTKind::RealToComplex:
      return encoder.dispatch([=, from = view_of<const float>(in), to = view_of<Complex>(out)] {
        to_complex(shape, axis, scale, from, to);
      });
    case FFTKind::ComplexToReal:
      return encoder.dispatch([=, from = view_of<const Complex>(in), to = view_of<float>(out)] {
        to_real(shape, axis, scale, from, to);
      });
    case FFTKind::Complex:
      return encoder.dispatch([=, axes = axes_, forward = !inverse_,
                               from = view_of<const Complex>(in), to = view_of<Complex>(out)] {
        complex_transform(shape, axes, forward, scale, from, to);
      });
  }
}

}  // namespace mlx::core
