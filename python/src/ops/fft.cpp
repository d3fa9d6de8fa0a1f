// mlx.core.fft.
#include "mlx/fft.h"

#include <pybind11/stl.h>

#include "convert/arguments.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

// The variable parts of the docstrings of a family of transforms.
struct Family {
  const char* prefix;   // of the name: "" for fft, fft2 and fftn
  const char* what;     // what it computes
  const char* lengths;  // whose lengths are given
  const char* returned;
};

const Family kComplexForward{"", "discrete Fourier transform", "the input is cut or padded to",
                             "The transform, complex64."};
const Family kComplexInverse{"i", "inverse discrete Fourier transform",
                             "the input is cut or padded to", "The transform, complex64."};
const Family kRealForward{
    "r", "discrete Fourier transform of real numbers", "the input is cut or padded to",
    "The first half of the transform, complex64: n / 2 + 1 elements along the "
    "last axis."};
const Family kRealInverse{"ir", "inverse of a discrete Fourier transform of real numbers",
                          "the result has; of the last axis 2 * (m - 1) if not given",
                          "The real numbers, float32."};

const char* const kNormText =
    R"(    norm: Which transform is divided by the number of elements n: "backward": the inverse one,
        "forward": the forward one, "ortho": both, by sqrt(n).
)";

std::string one_axis_doc(const Family& family) {
  return std::string(family.prefix) +
         "fft(a: array, n: int | None = None, axis: int = -1, norm: str = 'backward', stream: "
         "StreamOrDevice = None) -> array\n\nComputes the " +
         family.what + " along one axis.\n\nArgs:\n    a: The array.\n    n: The length that " +
         family.lengths + ".\n    axis: The axis.\n" + kNormText + "\nReturns:\n    " +
         family.returned;
}

std::string several_axes_doc(const Family& family, const char* name, const char* axes) {
  return std::string(family.prefix) + name + "(a: array, s: Sequence[int] | None = None, axes: " +
         (axes ? std::string("Sequence[int] = ") + axes : "Sequence[int] | None = None") +
         ", norm: str = 'backward', stream: StreamOrDevice = None) -> array\n\nComputes the " +
         family.what +
         " along several axes.\n\nArgs:\n    a: The array.\n    s: The lengths that " +
         family.lengths + ".\n    axes: The axes. None means all, and no `s`.\n" + kNormText +
         "\nReturns:\n    " + family.returned;
}

const char* const kShiftDoc =
    R"(fftshift(a: array, axes: int | Sequence[int] | None = None, stream: StreamOrDevice = None) -> array

Moves the zero frequency from the start of axes to their middle.

Args:
    a: The array.
    axes: The axes. None means all.

Returns:
    The array, rolled by half of each length.)";

const char* const kInverseShiftDoc =
    R"(ifftshift(a: array, axes: int | Sequence[int] | None = None, stream: StreamOrDevice = None) -> array

Moves the zero frequency from the middle of axes to their start: takes `fftshift` back.

Args:
    a: The array.
    axes: The axes. None means all.

Returns:
    The array, rolled by half of each length.)";

const char* const kFreqDoc =
    R"(fftfreq(n: int, d: float = 1.0, stream: StreamOrDevice = None) -> array

Makes the frequencies of the elements of `fft`.

Args:
    n: The number of elements.
    d: The distance between samples.

Returns:
    The frequencies, float32, in cycles per unit of `d`: first those from 0 on, then the negative
    ones.)";

const char* const kRealFreqDoc =
    R"(rfftfreq(n: int, d: float = 1.0, stream: StreamOrDevice = None) -> array

Makes the frequencies of the elements of `rfft`.

Args:
    n: The number of real elements.
    d: The distance between samples.

Returns:
    The frequencies, float32, in cycles per unit of `d`: n / 2 + 1 of them.)";

mx::fft::FFTNorm norm_of(const std::string& norm) {
  if (norm == "backward") return mx::fft::FFTNorm::Backward;
  if (norm == "ortho") return mx::fft::FFTNorm::Ortho;
  if (norm == "forward") return mx::fft::FFTNorm::Forward;
  throw std::invalid_argument("[fft] norm must be \"backward\", \"ortho\" or \"forward\", not \"" +
                              norm + "\".");
}

mx::fft::OptionalShape lengths_of(const std::optional<Ints>& lengths) {
  if (!lengths) return std::nullopt;
  return to_shape(*lengths, "[fft] s");
}

const char* const kStftDoc =
    R"(stft(x: array, n_fft: int = 2048, hop_length: int | None = None, win_length: int | None = None, window: array | None = None, center: bool = True, pad_mode: str = 'reflect', norm: str = 'backward', onesided: bool | None = None, stream: StreamOrDevice = None) -> array

Computes the Fourier transforms of overlapping frames of a signal.

Args:
    x: The signals, along the last axis.
    n_fft: The elements of a frame.
    hop_length: The distance between frames. None means `n_fft // 4`.
    win_length: The elements of a window of ones, if none is given. None means `n_fft`.
    window: What frames are multiplied with: one axis of at most `n_fft` elements, the middle ones. The
        others are zero.
    center: Whether `n_fft // 2` elements are put before and behind the signal, so that the middle of frame
        i is element `i * hop_length`.
    pad_mode: What these are: "reflect", "constant" (zeros), "edge" or "symmetric", as `pad` has it.
    norm: What is divided by `n_fft`: "backward" nothing here, "forward" the transform, "ortho" its root.
    onesided: Whether to leave the negative frequencies out. None means yes. Those of complex signals are
        always there.

Returns:
    The transforms, complex64, of shape (..., frequencies, frames).

Example:
    >>> mx.fft.stft(mx.ones(64), n_fft=16).shape
    (9, 17))";

const char* const kIstftDoc =
    R"(istft(stft_matrix: array, n_fft: int | None = None, hop_length: int | None = None, win_length: int | None = None, window: array | None = None, center: bool = True, norm: str = 'backward', onesided: bool | None = None, length: int | None = None, stream: StreamOrDevice = None) -> array

Computes the signal that `stft` was made of. The arguments are those that it had.

Args:
    stft_matrix: The transforms, of shape (..., frequencies, frames).
    n_fft: The elements of a frame. None means the even number that has so many frequencies.
    hop_length: The distance between frames. None means `n_fft // 4`.
    win_length: The elements of a window of ones, if none is given. None means `n_fft`.
    window: What frames were multiplied with.
    center: Whether elements were put before and behind the signal.
    norm: What was divided by `n_fft`, see `stft`.
    onesided: Whether the negative frequencies were left out. None means yes.
    length: The elements of the signal. None means as many as frames reach, without those that `center`
        has added.

Returns:
    The real signals, float32, along the last axis. Elements that no window reaches are 0.)";

using Transform = mx::array (*)(const mx::array&, const mx::fft::OptionalShape&,
                                const mx::fft::OptionalAxes&, mx::fft::FFTNorm, mx::StreamOrDevice);

void define_one_axis(py::module_& m, const Family& family, Transform transform) {
  m.def((std::string(family.prefix) + "fft").c_str(),
        [transform](const mx::array& a, std::optional<int> n, int axis, const std::string& norm,
                    StreamArg s) {
          const auto lengths = n ? mx::fft::OptionalShape(mx::Shape{*n}) : std::nullopt;
          return transform(a, lengths, std::vector<int>{axis}, norm_of(norm), s);
        },
        "a"_a, "n"_a = py::none(), "axis"_a = -1, "norm"_a = "backward", "stream"_a = py::none(),
        one_axis_doc(family).c_str());
}

void define_family(py::module_& m, const Family& family, Transform transform) {
  define_one_axis(m, family, transform);
  auto several = [transform](const mx::array& a, const std::optional<Ints>& lengths,
                             const Axes& axes, const std::string& norm, StreamArg s) {
    return transform(a, lengths_of(lengths), axes.value, norm_of(norm), s);
  };
  m.def((std::string(family.prefix) + "fft2").c_str(), several, "a"_a, "s"_a = py::none(),
        "axes"_a = std::vector<int>{-2, -1}, "norm"_a = "backward", "stream"_a = py::none(),
        several_axes_doc(family, "fft2", "[-2, -1]").c_str());
  m.def((std::string(family.prefix) + "fftn").c_str(), several, "a"_a, "s"_a = py::none(),
        "axes"_a = py::none(), "norm"_a = "backward", "stream"_a = py::none(),
        several_axes_doc(family, "fftn", nullptr).c_str());
}

void define_short_time(py::module_& m) {
  m.def(
      "stft",
      [](const mx::array& x, int n_fft, std::optional<int> hop, std::optional<int> win_length,
         const std::optional<mx::array>& window, bool center, const std::string& pad_mode,
         const std::string& norm, std::optional<bool> onesided, StreamArg s) {
        return mx::fft::stft(x, n_fft, hop, win_length, window, center, pad_mode, norm_of(norm),
                             onesided, s);
      },
      "x"_a, "n_fft"_a = 2048, "hop_length"_a = py::none(), "win_length"_a = py::none(),
      "window"_a = py::none(), "center"_a = true, "pad_mode"_a = "reflect", "norm"_a = "backward",
      "onesided"_a = py::none(), "stream"_a = py::none(), kStftDoc);
  m.def(
      "istft",
      [](const mx::array& stft_matrix, std::optional<int> n_fft, std::optional<int> hop,
         std::optional<int> win_length, const std::optional<mx::array>& window, bool center,
         const std::string& norm, std::optional<bool> onesided, std::optional<int> length,
         StreamArg s) {
        return mx::fft::istft(stft_matrix, n_fft, hop, win_length, window, center, norm_of(norm),
                              onesided, length, s);
      },
      "stft_matrix"_a, "n_fft"_a = py::none(), "hop_length"_a = py::none(),
      "win_length"_a = py::none(), "window"_a = py::none(), "center"_a = true,
      "norm"_a = "backward", "onesided"_a = py::none(), "length"_a = py::none(),
      "stream"_a = py::none(), kIstftDoc);
}

}  // namespace

void init_fft(py::module_& parent) {
  py::module_ m = parent.def_submodule("fft", "Discrete Fourier transforms.");
  define_family(m, kComplexForward, &mx::fft::fftn);
  define_family(m, kComplexInverse, &mx::fft::ifftn);
  define_family(m, kRealForward, &mx::fft::rfftn);
  define_family(m, kRealInverse, &mx::fft::irfftn);
  define_short_time(m);
  auto define_shift = [&](const char* name, auto shift, const char* doc) {
    m.def(
        name,
        [shift](const mx::array& a, const Axes& axes, StreamArg s) {
          return shift(a, axes.value, s);
        },
        "a"_a, "axes"_a = py::none(), "stream"_a = py::none(), doc);
  };
  define_shift("fftshift", &mx::fft::fftshift, kShiftDoc);
  define_shift("ifftshift", &mx::fft::ifftshift, kInverseShiftDoc);
  m.def(
      "fftfreq", [](int n, double d, StreamArg s) { return mx::fft::fftfreq(n, d, s); }, "n"_a,
      "d"_a = 1.0, "stream"_a = py::none(), kFreqDoc);
  m.def(
      "rfftfreq", [](int n, double d, StreamArg s) { return mx::fft::rfftfreq(n, d, s); }, "n"_a,
      "d"_a = 1.0, "stream"_a = py::none(), kRealFreqDoc);
}
