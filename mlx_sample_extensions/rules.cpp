// Helpers for derivatives and vmap of the package's primitives.
#include "rules.h"

#include <algorithm>

namespace mlx_sample {

mx::array dense(const mx::array& a, mx::Stream s) { return mx::contiguous(a, false, s); }

mx::array tangent_of(int input, const Arrays& primals, const Arrays& tangents,
                     const std::vector<int>& argnums, mx::Stream s) {
  auto it = std::find(argnums.begin(), argnums.end(), input);
  return it == argnums.end() ? mx::zeros_like(primals[input], s) : tangents[it - argnums.begin()];
}

int mapped_length(const Arrays& inputs, const std::vector<int>& axes) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (axes[i] >= 0) {
      return inputs[i].shape(axes[i]);
    }
  }
  return 1;
}

mx::array in_front(const mx::array& a, int axis, int length, mx::Stream s) {
  if (axis >= 0) {
    return mx::moveaxis(a, axis, 0, s);
  }
  auto shape = a.shape();
  shape.insert(shape.begin(), length);
  return mx::broadcast_to(mx::expand_dims(a, 0, s), shape, s);
}

mx::array shifted(const mx::array& lines, int step, mx::Stream s) {
  mx::Shape shape(lines.ndim(), 1);
  shape[0] = lines.shape(0);
  auto shift = mx::reshape(mx::arange(0, lines.shape(0), mx::int32, s), std::move(shape), s);
  return mx::add(lines, mx::multiply(shift, mx::array(step, mx::int32), s), s);
}

std::pair<Arrays, std::vector<int>> map_batches(const Arrays& inputs, const std::vector<int>& axes,
                                                const std::function<Arrays(const Arrays&)>& apply,
                                                mx::Stream s) {
  int length = mapped_length(inputs, axes);
  Arrays merged;
  for (size_t i = 0; i < inputs.size(); ++i) {
    merged.push_back(mx::flatten(in_front(inputs[i], axes[i], length, s), 0, 1, s));
  }
  auto outputs = apply(merged);
  for (auto& out : outputs) {
    out = mx::unflatten(out, 0, {length, out.shape(0) / std::max(length, 1)}, s);
  }
  std::vector<int> out_axes(outputs.size(), 0);
  return {std::move(outputs), std::move(out_axes)};
}

}  // namespace mlx_sample
