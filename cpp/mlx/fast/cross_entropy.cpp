// The cross entropy loss.
#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::fast {

namespace {

void check_cross_entropy(const array& logits, const array& targets) {
  constexpr const char* op = "cross_entropy";
  if (logits.ndim() == 0) invalid_argument(op, "The logits must have at least 1 dimension.");
  if (!issubdtype(logits.dtype(), floating)) {
    invalid_argument(op,
                     message("The logits must be of a floating type, not ", logits.dtype(), "."));
  }
  if (!issubdtype(targets.dtype(), integer)) {
    invalid_argument(op, message("The targets must be integers, the indices of classes, not ",
                                 targets.dtype(), "."));
  }
  if (targets.shape() != Shape(logits.shape().begin(), logits.shape().end() - 1)) {
    invalid_argument(op, message("The targets must have the shape of the logits without its last "
                                 "axis, but have ",
                                 targets.shape(), " for logits of shape ", logits.shape(), "."));
  }
  if (logits.shape(-1) == 0) {
    invalid_argument(op,
                     message("There are no classes: the logits have shape ", logits.shape(), "."));
  }
}

}  // namespace

array cross_entropy(const array& logits, const array& targets, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_cross_entropy(logits, targets);
  array x = astype(logits, logits.dtype() == float64 ? float64 : float32, s);
  array chosen = take_along_axis(x, expand_dims(targets, -1, s), -1, s);
  array loss = subtract(logsumexp(x, -1, false, s), squeeze(chosen, -1, s), s);
  return astype(loss, float32, s);
}

}  // namespace mlx::core::fast
