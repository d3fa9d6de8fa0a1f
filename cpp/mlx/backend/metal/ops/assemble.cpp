// Arrays put together from others: concatenation, padding, replaced slices.
#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

MLX_EVAL(Concatenate) {
  allocate_output(out);
  int64_t offset = 0;
  for (auto& in : inputs) {
    copy_inplace(in, out, in.shape(), in.strides(), out.strides(), 0, offset,
                 CopyType::GeneralGeneral, stream());
    offset += in.shape(axis_) * out.strides(axis_);
  }
}

MLX_EVAL(Pad) {
  auto& in = inputs[0];
  allocate_output(out);
  copy_inplace(inputs[1], out, CopyType::Scalar, stream());
  int64_t offset = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    offset += low_pad_size_[i] * out.strides(axes_[i]);
  }
  copy_inplace(in, out, in.shape(), in.strides(), out.strides(), 0, offset,
               CopyType::GeneralGeneral, stream());
}

MLX_EVAL(SliceUpdate) {
  auto& in = inputs[0];
  auto& update = inputs[1];
  copy(in, out, in.flags().row_contiguous ? CopyType::Vector : CopyType::General, stream());
  auto [offset, strides] = prepare_slice(out, start_indices_, strides_);
  copy_inplace(update, out, update.shape(), update.strides(), strides, 0, offset,
               CopyType::GeneralGeneral, stream());
}

}  // namespace mlx::core
