// Helpers for derivatives and vmap of several primitives.
#include "mlx/primitives/rules.h"

#include <algorithm>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace mlx::core {

array axis_in_front(const array& a, int axis, const Stream& s) {
  return axis > 0 ? moveaxis(a, axis, 0, s) : a;
}

array axis_in_front_or_new(const array& a, int axis, const Stream& s) {
  return axis < 0 ? expand_dims(a, 0, s) : axis_in_front(a, axis, s);
}

array axis_in_front_or_repeated(const array& a, int axis, int length, const Stream& s) {
  return axis < 0 ? broadcast_to(a, prepended(length, a.shape()), s) : axis_in_front(a, axis, s);
}

int mapped_length(const std::vector<array>& inputs, const std::vector<int>& axes) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (axes[i] >= 0) {
      return inputs[i].shape(axes[i]);
    }
  }
  internal_error("mapped_length", "no input has a mapped axis");
}

std::vector<int> shifted(std::vector<int> axes) {
  for (int& axis : axes) {
    axis += 1;
  }
  return axes;
}

Shape prepended(int first, const Shape& shape) {
  Shape out{first};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

int position(const std::vector<int>& argnums, int arg) {
  auto it = std::find(argnums.begin(), argnums.end(), arg);
  return it == argnums.end() ? -1 : static_cast<int>(it - argnums.begin());
}

std::vector<array> zero_cotangents(const std::vector<array>& primals,
                                   const std::vector<int>& argnums, const Stream& s) {
  std::vector<array> out;
  for (int arg : argnums) {
    out.push_back(zeros_like(primals[arg], s));
  }
  return out;
}

void refuse_indices(const std::vector<int>& argnums, int first, int end, const char* op) {
  for (int arg : argnums) {
    if (arg >= first && arg < end) {
      invalid_argument(op,
                       "There is no derivative with respect to indices: mx.stop_gradient of them "
                       "says that none is wanted.");
    }
  }
}

std::vector<array> jvp_as(const ArraysFunction& fun, const std::vector<array>& primals,
                          const std::vector<array>& tangents, const std::vector<int>& argnums) {
  auto partially = [&](const std::vector<array>& some) {
    std::vector<array> inputs = primals;
    for (size_t i = 0; i < argnums.size(); ++i) inputs[argnums[i]] = some[i];
    return fun(inputs);
  };
  std::vector<array> points;
  for (int arg : argnums) points.push_back(primals[arg]);
  return jvp(partially, points, tangents).second;
}

VmapResult vmap_as(const ArraysFunction& fun, const std::vector<array>& inputs,
                   const std::vector<int>& axes) {
  auto [elements, outputs] = detail::vmap_trace(fun, inputs, axes);
  std::vector<int> out_axes(outputs.size(), 0);
  return {detail::vmap_replace(inputs, elements, outputs, axes, out_axes), out_axes};
}

void accumulate(std::optional<array>& sum, const array& term, const Stream& s) {
  sum = sum ? add(*sum, term, s) : term;
}

}  // namespace mlx::core
