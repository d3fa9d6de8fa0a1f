// Short-time Fourier transforms: a transform of each of the overlapping frames of a signal.
#include <algorithm>
#include <limits>

#include "mlx/errors.h"
#include "mlx/fft.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::fft {

namespace {

int positive(int value, const char* name, const char* op) {
  if (value <= 0) invalid_argument(op, message(name, " must be positive, but is ", value, "."));
  return value;
}

// The frames and the window of a signal.
struct Framing {
  int n_fft;
  int hop;
  array window;  // of n_fft elements

  Framing(int size, const std::optional<int>& hop_length, const std::optional<int>& win_length,
          const std::optional<array>& given, const char* op, const Stream& s)
      : n_fft(positive(size, "n_fft", op)),
        hop(positive(hop_length.value_or(n_fft / 4), "hop_length", op)),
        window(padded(given ? *given : rectangle(win_length.value_or(n_fft), op, s), op, s)) {}

  // The positions of the frames' elements in the signal, of shape (count, n_fft).
  array places(int count, const Stream& s) const {
    array starts = multiply(arange(0, count, 1, int32, s), array(hop, int32), s);
    return add(reshape(starts, {count, 1}, s), arange(0, n_fft, 1, int32, s), s);
  }

 private:
  static array rectangle(int length, const char* op, const Stream& s) {
    return ones({positive(length, "win_length", op)}, float32, s);
  }

  // Centres the window and pads it with zeros.
  array padded(const array& given, const char* op, const Stream& s) const {
    if (given.ndim() != 1) {
      invalid_argument(
          op, message("The window must have one dimension, but has shape ", given.shape(), "."));
    }
    if (issubdtype(given.dtype(), complexfloating)) {
      invalid_argument(op, "The window must be real, but is complex64.");
    }
    const int missing = n_fft - given.shape(0);
    if (missing < 0) {
      invalid_argument(op, message("The window has ", given.shape(0),
                                   " elements, more than n_fft = ", n_fft, "."));
    }
    array values = astype(given, float32, s);
    return pad(values, {0}, {missing / 2}, {missing - missing / 2}, array(0.0f), "constant", s);
  }
};

// Adds frames (..., count, n_fft) to each other where they overlap: (..., length).
array overlapped(const array& frames, const Framing& framing, int length, const Stream& s) {
  const int count = frames.shape(-2);
  const Shape batch = batch_of(frames);
  array updates = transpose(reshape(frames, {-1, count * framing.n_fft}, s), s);
  const int rows = updates.shape(1);
  array places = reshape(framing.places(count, s), {-1}, s);
  array sums = scatter_add(zeros({length, rows}, frames.dtype(), s), places,
                           reshape(updates, {count * framing.n_fft, 1, rows}, s), 0, s);
  Shape shape = batch;
  shape.push_back(length);
  return reshape(transpose(sums, s), shape, s);
}

// `length` elements of the last axis from `start` on, padded with zeros at the end.
array section(const array& a, int start, int length, const Stream& s) {
  const int axis = rank(a) - 1;
  Shape first(a.ndim(), 0), stop = a.shape();
  first[axis] = std::min(start, a.shape(axis));
  stop[axis] = static_cast<int>(
      std::min(static_cast<int64_t>(first[axis]) + length, static_cast<int64_t>(a.shape(axis))));
  array part = slice(a, first, stop, s);
  return pad(part, {axis}, {0}, {length - part.shape(axis)}, scalar(0, a), "constant", s);
}

// The signal of the frames, with the effect of the windows removed.
array joined(array frames, const Framing& framing, const Stream& s) {
  const int count = frames.shape(-2);
  const int length =
      checked_extent(static_cast<int64_t>(framing.hop) * (count - 1) + framing.n_fft, "istft");
  array sums = overlapped(multiply(frames, framing.window, s), framing, length, s);
  array weights = broadcast_to(square(framing.window, s), {count, framing.n_fft}, s);
  array weight = overlapped(weights, framing, length, s);
  // Elements that no window reaches are unknown.
  array known = greater(weight, scalar(std::numeric_limits<float>::min(), weight), s);
  return divide(sums, where(known, weight, scalar(1, weight), s), s);
}

}  // namespace

array stft(const array& x, int n_fft, std::optional<int> hop_length, std::optional<int> win_length,
           const std::optional<array>& window, bool center, const std::string& pad_mode,
           FFTNorm norm, std::optional<bool> onesided, StreamOrDevice to) {
  const Stream s = to_stream(to);
  if (x.ndim() == 0) invalid_argument("stft", "The array must have at least 1 dimension.");
  const Framing framing(n_fft, hop_length, win_length, window, "stft", s);
  const bool is_complex = x.dtype() == complex64;
  array signal = is_complex ? x : astype(x, float32, s);
  if (center) {
    const int edge = n_fft / 2;
    signal = pad(signal, {rank(x) - 1}, {edge}, {edge}, scalar(0, signal), pad_mode, s);
  }
  const int length = signal.shape(-1);
  if (length < n_fft) {
    invalid_argument(
        "stft", message("A signal of ", length, " elements has no frame of n_fft = ", n_fft, "."));
  }
  array places = framing.places(1 + (length - n_fft) / framing.hop, s);
  array frames = multiply(take(signal, places, rank(signal) - 1, s), framing.window, s);
  const bool half = !is_complex && onesided.value_or(true);
  array transformed = half ? rfftn(frames, Shape{n_fft}, std::vector<int>{-1}, norm, s)
                           : fftn(frames, Shape{n_fft}, std::vector<int>{-1}, norm, s);
  return swapaxes(transformed, -1, -2, s);
}

array istft(const array& stft_matrix, std::optional<int> n_fft, std::optional<int> hop_length,
            std::optional<int> win_length, const std::optional<array>& window, bool center,
            FFTNorm norm, std::optional<bool> onesided, std::optional<int> length,
            StreamOrDevice to) {
  const Stream s = to_stream(to);
  if (stft_matrix.ndim() < 2 || stft_matrix.shape(-1) == 0) {
    invalid_argument("istft", message("The array must have frequencies and at least one frame as "
                                      "its last axes, but has shape ",
                                      stft_matrix.shape(), "."));
  }
  if (length && *length < 0) {
    invalid_argument("istft", message("length must not be negative, but is ", *length, "."));
  }
  const bool half = onesided.value_or(true);
  const int frequencies = stft_matrix.shape(-2);
  const Framing framing(n_fft.value_or(half ? 2 * (frequencies - 1) : frequencies), hop_length,
                        win_length, window, "istft", s);
  const OptionalShape size = Shape{framing.n_fft};
  const OptionalAxes last = std::vector<int>{-1};
  array columns = swapaxes(stft_matrix, -1, -2, s);
  array frames =
      half ? irfftn(columns, size, last, norm, s) : real(ifftn(columns, size, last, norm, s), s);
  array signal = joined(std::move(frames), framing, s);
  const int edge = center ? framing.n_fft / 2 : 0;
  return section(signal, edge, length.value_or(std::max(signal.shape(-1) - 2 * edge, 0)), s);
}

}  // namespace mlx::core::fft
