// Views inside an evaluation.
#include "mlx/backend/common/views_in_eval.h"

#include <numeric>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"
#include "mlx/utils.h"

namespace mlx::core {

void reshape_in_eval(const array& in, array& out, Stream s) {
  auto [must_copy, strides] = prepare_reshape(in, out);
  if (must_copy) {
    allocate_output(out);
    copy_inplace(in, out, in.shape(), in.strides(), make_contiguous_strides(in.shape()), 0, 0,
                 CopyType::General, s);
  } else {
    make_view(in, out, strides);
  }
}

array reshape_in_eval(const array& x, Shape shape, Stream s) {
  array out(std::move(shape), x.dtype(), nullptr, {});
  reshape_in_eval(x, out, s);
  return out;
}

array flatten_in_eval(const array& x, int start_axis, int end_axis, Stream s) {
  int ndim = static_cast<int>(x.ndim());
  int start = normalize_axis_index(start_axis, ndim, "flatten_in_eval");
  int end = normalize_axis_index(end_axis, ndim, "flatten_in_eval");
  Shape shape(x.shape().begin(), x.shape().begin() + start);
  shape.push_back(std::accumulate(x.shape().begin() + start, x.shape().begin() + end + 1,
                                  ShapeElem(1), std::multiplies<>()));
  shape.insert(shape.end(), x.shape().begin() + end + 1, x.shape().end());
  return reshape_in_eval(x, std::move(shape), s);
}

array transpose_in_eval(const array& x, const std::vector<int>& axes) {
  Shape shape;
  Strides strides;
  for (int axis : axes) {
    shape.push_back(x.shape(axis));
    strides.push_back(x.strides(axis));
  }
  array out(std::move(shape), x.dtype(), nullptr, {});
  make_view(x, out, strides);
  return out;
}

array swapaxes_in_eval(const array& x, int axis1, int axis2) {
  std::vector<int> axes(x.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  int ndim = static_cast<int>(x.ndim());
  std::swap(axes[normalize_axis_index(axis1, ndim)], axes[normalize_axis_index(axis2, ndim)]);
  return transpose_in_eval(x, axes);
}

}  // namespace mlx::core
