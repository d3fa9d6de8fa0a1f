// Rotary position encoding.
#include <cmath>

#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::fast {

namespace {

void check(const array& x, int dims, const std::optional<float>& base, const array& offset,
           const std::optional<array>& freqs) {
  auto fail = [](const std::string& text) { invalid_argument("rope", text); };
  if (x.ndim() < 3) {
    fail(message("The array must have at least 3 dimensions, but has shape ", x.shape(), "."));
  }
  if (!issubdtype(x.dtype(), floating)) {
    fail(message("The type must be a floating one, not ", x.dtype(), "."));
  }
  if (dims <= 0 || dims % 2 != 0 || dims > x.shape(-1)) {
    fail(message("dims must be even, and from 2 to the length of the last axis, ", x.shape(-1),
                 "; it is ", dims, "."));
  }
  if (base.has_value() == freqs.has_value()) {
    fail("Either base or freqs must be given, not both.");
  }
  if (freqs && (freqs->ndim() != 1 || freqs->shape(0) != dims / 2)) {
    fail(message("freqs must have the shape (", dims / 2, ") for dims = ", dims, ", not ",
                 freqs->shape(), "."));
  }
  if (offset.ndim() > 1 ||
      (offset.ndim() == 1 && offset.size() != 1 && offset.shape(0) != x.shape(0))) {
    fail(message("offset must be one number, or one for each of the ", x.shape(0),
                 " entries of the first axis, but has shape ", offset.shape(), "."));
  }
}

// The angle of each pair for one step of the position.
array speeds(int pairs, const std::optional<float>& base, const std::optional<array>& freqs,
             const Stream& s) {
  if (freqs) return reciprocal(astype(*freqs, float32, s), s);
  array exponents = multiply(astype(arange(pairs, s), float32, s),
                             array(-std::log(*base) / static_cast<float>(pairs)), s);
  return exp(exponents, s);
}

// The angle for each position and pair, with axes of length 1 so that it broadcasts against x.
array angles(const array& x, float scale, const array& offset, const array& speed,
             const Stream& s) {
  array positions = astype(arange(x.shape(-2), s), float32, s);
  if (offset.size() == 1) {
    positions = add(positions, astype(reshape(offset, {}, s), float32, s), s);
  } else {
    Shape shape(x.ndim() - 1, 1);
    shape[0] = x.shape(0);
    positions = add(positions, astype(reshape(offset, shape, s), float32, s), s);
  }
  return multiply(multiply(expand_dims(positions, -1, s), array(scale), s), speed, s);
}

array part_of_last(const array& x, int start, int stop, int step, const Stream& s) {
  Shape starts(x.ndim(), 0), stops = x.shape(), steps(x.ndim(), 1);
  starts.back() = start;
  stops.back() = stop;
  steps.back() = step;
  return slice(x, starts, stops, steps, s);
}

}  // namespace

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           const array& offset, const std::optional<array>& freqs, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check(x, dims, base, offset, freqs);
  const int half = dims / 2;
  array angle = angles(x, scale, offset, speeds(half, base, freqs, s), s);
  array cosine = cos(angle, s), sine = sin(angle, s);
  auto wide = [&](int start, int stop, int step) {
    return astype(part_of_last(x, start, stop, step, s), float32, s);
  };
  array first = traditional ? wide(0, dims, 2) : wide(0, half, 1);
  array second = traditional ? wide(1, dims, 2) : wide(half, dims, 1);
  array turned_first = subtract(multiply(first, cosine, s), multiply(second, sine, s), s);
  array turned_second = add(multiply(first, sine, s), multiply(second, cosine, s), s);
  array rotated = traditional ? flatten(stack({turned_first, turned_second}, -1, s), -2, -1, s)
                              : concatenate({turned_first, turned_second}, -1, s);
  rotated = astype(rotated, x.dtype(), s);
  if (dims == x.shape(-1)) return rotated;
  return concatenate({rotated, part_of_last(x, dims, x.shape(-1), 1, s)}, -1, s);
}

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           int offset, const std::optional<array>& freqs, StreamOrDevice s) {
  return rope(x, dims, traditional, base, scale, array(offset), freqs, s);
}

}  // namespace mlx::core::fast
