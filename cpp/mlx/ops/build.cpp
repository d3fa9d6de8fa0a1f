// How operations make nodes.
#include "mlx/ops/build.h"

#include <algorithm>
#include <numeric>

#include "mlx/errors.h"
#include "mlx/ops.h"

namespace mlx::core {

std::vector<array> cast_and_broadcast(std::vector<array> inputs, Dtype dtype, const Stream& s) {
  bool same_shape = true;
  for (auto& in : inputs) {
    if (in.dtype() != dtype) in = astype(in, dtype, s);
    same_shape = same_shape && in.shape() == inputs[0].shape();
  }
  if (same_shape) return inputs;
  return broadcast_arrays(inputs, s);
}

void check_integral(const array& a, const std::string& op, bool allow_bool) {
  if (!issubdtype(a.dtype(), integer) && !(allow_bool && a.dtype() == bool_)) {
    invalid_argument(op, message("The type must be an integer type", allow_bool ? " or bool" : "",
                                 ", not ", a.dtype(), "."));
  }
}

void check_real(const array& a, const std::string& op) {
  if (a.dtype() == complex64) {
    invalid_argument(op, "Not supported for complex64.");
  }
}

std::vector<int> all_axes(const array& a) {
  std::vector<int> axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

array along_axes(const array& a, const std::vector<int>& axes, bool same_length, const Stream& s,
                 const std::function<array(const array&)>& f) {
  int ndim = rank(a);
  if (axes.size() == 1 && axes[0] == ndim - 1) {
    return f(a);
  }
  std::vector<int> order;
  for (int i = 0; i < ndim; ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      order.push_back(i);
    }
  }
  int kept = static_cast<int>(order.size());
  order.insert(order.end(), axes.begin(), axes.end());
  array moved = transpose(a, order, s);
  array out = f(flatten(moved, kept, -1, s));

  Shape shape(out.shape().begin(), out.shape().begin() + kept);
  for (int axis : axes) {
    shape.push_back(same_length ? a.shape(axis) : 1);
  }
  std::vector<int> back(ndim);
  for (int i = 0; i < ndim; ++i) {
    back[order[i]] = i;
  }
  return transpose(reshape(out, shape, s), back, s);
}

array adjoint(const array& a, StreamOrDevice s) { return conjugate(swapaxes(a, -1, -2, s), s); }

}  // namespace mlx::core
