// Rotary position encoding.
#include "mlx/primitives/rope.h"

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
  if (!issubdtype(offset.dtype(), integer)) {
    fail(message("offset must be an integer, not of type ", offset.dtype(), "."));
  }
  if (offset.ndim() > 1 ||
      (offset.ndim() == 1 && offset.size() != 1 && offset.shape(0) != x.shape(0))) {
    fail(message("offset must be one number, or one for each of the ", x.shape(0),
                 " entries of the first axis, but has shape ", offset.shape(), "."));
  }
}

}  // namespace

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           const array& offset, const std::optional<array>& freqs, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check(x, dims, base, offset, freqs);
  const int pairs = dims / 2;
  const float exponent = base ? -std::log(*base) / static_cast<float>(pairs) : 0.0f;
  const bool in_kernel = x.dtype() != float64 && issubdtype(offset.dtype(), integer);
  std::vector<array> inputs{x, in_kernel ? astype(offset, int32, s) : offset};
  if (freqs) inputs.push_back(reciprocal(astype(*freqs, float32, s), s));
  if (!in_kernel) return Rotation{dims, traditional, false, scale, exponent}.compute(inputs, s);
  return array(x.shape(), x.dtype(),
               std::make_shared<RoPE>(s, dims, traditional, false, scale, exponent), inputs);
}

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           int offset, const std::optional<array>& freqs, StreamOrDevice s) {
  return rope(x, dims, traditional, base, scale, array(offset), freqs, s);
}

}  // namespace mlx::core::fast
