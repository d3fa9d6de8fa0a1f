// Arrays put together from others: concatenation, padding, replaced slices.
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/slicing.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

void concatenate_in_eval(const std::vector<array>& inputs, array& out, int axis, Stream s) {
  allocate_output(out);
  int64_t offset = 0;
  for (auto& in : inputs) {
    copy_inplace(in, out, in.shape(), in.strides(), out.strides(), 0, offset,
                 CopyType::GeneralGeneral, s);
    offset += in.shape(axis) * out.strides(axis);
  }
}

void pad_in_eval(const array& in, const array& value, array& out, const std::vector<int>& axes,
                 const Shape& low_pad_size, Stream s) {
  allocate_output(out);
  copy_inplace(value, out, CopyType::Scalar, s);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    offset += low_pad_size[i] * out.strides(axes[i]);
  }
  copy_inplace(in, out, in.shape(), in.strides(), out.strides(), 0, offset,
               CopyType::GeneralGeneral, s);
}

MLX_EVAL(Concatenate) { concatenate_in_eval(inputs, out, axis_, stream()); }

MLX_EVAL(Pad) { pad_in_eval(inputs[0], inputs[1], out, axes_, low_pad_size_, stream()); }

MLX_EVAL(SliceUpdate) {
  auto& in = inputs[0];
  auto& update = inputs[1];
  copy(in, out, in.flags().row_contiguous ? CopyType::Vector : CopyType::General, stream());
  auto [offset, strides] = prepare_slice(out, start_indices_, strides_);
  copy_inplace(update, out, update.shape(), update.strides(), strides, 0, offset,
               CopyType::GeneralGeneral, stream());
}

}  // namespace mlx::core
