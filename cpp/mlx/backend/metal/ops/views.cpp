// Primitives whose output is a view of their input's buffer, or a copy if a view is impossible.
#include "mlx/backend/common/broadcasting.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/slicing.h"
#include "mlx/backend/common/views_in_eval.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

MLX_EVAL(AsStrided) { make_view(row_contiguous(inputs[0], stream()), out, strides_, offset_); }

void broadcast(const array& in, array& out) {
  Strides strides(out.ndim(), 0);
  size_t added = out.ndim() - in.ndim();
  for (size_t d = 0; d < in.ndim(); ++d) {
    strides[added + d] = in.shape()[d] == 1 ? 0 : in.strides()[d];
  }
  if (out.size() == 0) return make_view(in, out, strides);
  // The memory has no more gaps than before, though its elements are repeated.
  const auto [size, row, col] = check_contiguity(out.shape(), strides);
  out.copy_shared_buffer(in, strides, {in.flags().contiguous, row, col}, in.data_size());
}

std::tuple<int64_t, Strides> prepare_slice(const array& in, const Shape& starts,
                                           const Shape& steps) {
  int64_t offset = 0;
  Strides strides(in.ndim());
  for (size_t i = 0; i < in.ndim(); ++i) {
    offset += starts[i] * in.strides()[i];
    strides[i] = in.strides()[i] * steps[i];
  }
  return {offset, std::move(strides)};
}

void slice(const array& in, array& out, const Shape& starts, const Shape& steps) {
  auto [offset, strides] = prepare_slice(in, starts, steps);
  make_view(in, out, strides, out.size() == 0 ? 0 : offset);
}

MLX_EVAL(Broadcast) { broadcast(inputs[0], out); }
MLX_EVAL(BroadcastAxes) { broadcast(inputs[0], out); }

MLX_EVAL(Contiguous) {
  auto& in = inputs[0];
  bool in_order = in.flags().row_contiguous || (allow_col_major_ && in.flags().col_contiguous);
  if (in_order && fills_buffer(out, in)) {
    move_or_copy(in, out);
  } else {
    copy(in, out, CopyType::General, stream());
  }
}

MLX_EVAL(ExpandDims) {
  Strides strides = inputs[0].strides();
  for (int axis : axes_) {
    strides.insert(strides.begin() + axis, 1);
  }
  make_view(inputs[0], out, strides);
}

MLX_EVAL(Squeeze) {
  Strides strides;
  size_t next = 0;
  for (int d = 0; d < static_cast<int>(inputs[0].ndim()); ++d) {
    if (next < axes_.size() && axes_[next] == d) {
      ++next;
    } else {
      strides.push_back(inputs[0].strides(d));
    }
  }
  make_view(inputs[0], out, strides);
}

MLX_EVAL(Flatten) { reshape_in_eval(inputs[0], out, stream()); }
MLX_EVAL(Reshape) { reshape_in_eval(inputs[0], out, stream()); }
MLX_EVAL(Unflatten) { reshape_in_eval(inputs[0], out, stream()); }

MLX_EVAL(Transpose) {
  Strides strides(out.ndim());
  for (size_t d = 0; d < strides.size(); ++d) {
    strides[d] = inputs[0].strides()[axes_[d]];
  }
  make_view(inputs[0], out, strides);
}

MLX_EVAL(View) {
  auto& in = inputs[0];
  if (in.itemsize() == out.itemsize()) {
    return out.copy_shared_buffer(in);
  }
  array source = row_contiguous(in, stream());
  out.copy_shared_buffer(source, make_contiguous_strides(out.shape()),
                         {true, true, out.ndim() <= 1}, out.size());
}

MLX_EVAL(NumberOfElements) {
  double n = 1;
  for (int axis : axes_) {
    n *= inputs[0].shape(axis);
  }
  out.copy_shared_buffer(array(inverted_ ? 1.0 / n : n, dtype_));
}

MLX_EVAL_MULTI(Split) {
  auto& in = inputs[0];
  for (size_t i = 0; i < outputs.size(); ++i) {
    int64_t start = i == 0 ? 0 : indices_[i - 1];
    make_view(in, outputs[i], in.strides(), start * in.strides(axis_));
  }
}

MLX_EVAL(Slice) { slice(inputs[0], out, start_indices_, strides_); }

MLX_EVAL(StopGradient) { out.copy_shared_buffer(inputs[0]); }

MLX_EVAL_MULTI(Depends) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].copy_shared_buffer(inputs[i]);
  }
}

MLX_EVAL_MULTI(CustomTransforms) {
  size_t first = inputs.size() - num_outputs_;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].copy_shared_buffer(inputs[first + i]);
  }
}

}  // namespace mlx::core
