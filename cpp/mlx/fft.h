// Discrete Fourier transforms, in single precision: float32 and complex64.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlx/ops/common.h"

namespace mlx::core::fft {

// Which transform divides by the number of elements n: the inverse (Backward), the forward one
// (Forward), or both by sqrt(n) (Ortho).
enum class FFTNorm { Backward, Ortho, Forward };

using OptionalShape = std::optional<Shape>;
using OptionalAxes = std::optional<std::vector<int>>;

// Transforms along `axes`, one after the other: by default all of them, or the last ones if lengths
// are given. `n` are the lengths: inputs are cut or padded with zeros. Those of rfftn and irfftn
// are lengths of the real side: where its last axis has n elements, the complex side has n / 2 + 1.
array fftn(const array& a, const OptionalShape& n, const OptionalAxes& axes,
           FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
array ifftn(const array& a, const OptionalShape& n, const OptionalAxes& axes,
            FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
array rfftn(const array& a, const OptionalShape& n, const OptionalAxes& axes,
            FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
array irfftn(const array& a, const OptionalShape& n, const OptionalAxes& axes,
             FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});

// The forms of MLX's C++ interface: some axes or all, lengths for each of the axes; and transforms
// of one axis and of two.
#define MLX_FFT_FORMS(name)                                                          \
  inline array name##n(const array& a, StreamOrDevice s = {}) {                      \
    return name##n(a, std::nullopt, std::nullopt, FFTNorm::Backward, s);             \
  }                                                                                  \
  inline array name##n(const array& a, const std::vector<int>& axes,                 \
                       FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {    \
    return name##n(a, std::nullopt, axes, norm, s);                                  \
  }                                                                                  \
  inline array name##n(const array& a, const Shape& n, const std::vector<int>& axes, \
                       FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {    \
    return name##n(a, OptionalShape(n), OptionalAxes(axes), norm, s);                \
  }                                                                                  \
  inline array name(const array& a, int n, int axis, StreamOrDevice s = {}) {        \
    return name##n(a, Shape{n}, std::vector<int>{axis}, FFTNorm::Backward, s);       \
  }                                                                                  \
  inline array name(const array& a, int axis = -1, StreamOrDevice s = {}) {          \
    return name##n(a, std::vector<int>{axis}, FFTNorm::Backward, s);                 \
  }                                                                                  \
  inline array name##2(const array& a, const Shape& n, const std::vector<int>& axes, \
                       StreamOrDevice s = {}) {                                      \
    return name##n(a, n, axes, FFTNorm::Backward, s);                                \
  }                                                                                  \
  inline array name##2(const array& a, const std::vector<int>& axes = {-2, -1},      \
                       StreamOrDevice s = {}) {                                      \
    return name##n(a, axes, FFTNorm::Backward, s);                                   \
  }

MLX_FFT_FORMS(fft)
MLX_FFT_FORMS(ifft)
MLX_FFT_FORMS(rfft)
MLX_FFT_FORMS(irfft)

#undef MLX_FFT_FORMS

// Moves the zero frequency to the middle, and back; along all axes or the given ones.
array fftshift(const array& a, const OptionalAxes& axes = {}, StreamOrDevice s = {});
array ifftshift(const array& a, const OptionalAxes& axes = {}, StreamOrDevice s = {});

// The frequencies of n elements at distances d, in the order in which transforms return them.
array fftfreq(int n, double d = 1.0, StreamOrDevice s = {});
array rfftfreq(int n, double d = 1.0, StreamOrDevice s = {});

// The transforms of frames of n_fft elements, which are hop_length (by default n_fft / 4) apart
// along the last axis: (..., frequencies, frames). The window (by default win_length ones) is
// centred in the frame. With `center`, n_fft / 2 elements of padding are added at both ends of the
// signal. Real signals give half of the frequencies unless `onesided` is false.
array stft(const array& x, int n_fft = 2048, std::optional<int> hop_length = std::nullopt,
           std::optional<int> win_length = std::nullopt,
           const std::optional<array>& window = std::nullopt, bool center = true,
           const std::string& pad_mode = "reflect", FFTNorm norm = FFTNorm::Backward,
           std::optional<bool> onesided = std::nullopt, StreamOrDevice s = {});

// The real signal from the result of stft(), cut or padded to `length`. By default n_fft is the
// even length that gives so many frequencies.
array istft(const array& stft_matrix, std::optional<int> n_fft = std::nullopt,
            std::optional<int> hop_length = std::nullopt,
            std::optional<int> win_length = std::nullopt,
            const std::optional<array>& window = std::nullopt, bool center = true,
            FFTNorm norm = FFTNorm::Backward, std::optional<bool> onesided = std::nullopt,
            std::optional<int> length = std::nullopt, StreamOrDevice s = {});

}  // namespace mlx::core::fft
