// Selecting, slicing, gathering and scattering.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

array where(const array& condition, const array& x, const array& y, StreamOrDevice s = {});
array clip(const array& a, const std::optional<array>& a_min = std::nullopt,
           const std::optional<array>& a_max = std::nullopt, StreamOrDevice s = {});

// One start, stop and stride per axis; they may be negative, as in Python.
array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s = {});
array slice(const array& a, std::initializer_list<int> start, Shape stop, Shape strides,
            StreamOrDevice s = {});
array slice(const array& a, Shape start, Shape stop, StreamOrDevice s = {});
// The start is known only at evaluation.
array slice(const array& a, const array& start, std::vector<int> axes, Shape slice_size,
            StreamOrDevice s = {});
// Returns the array with a slice replaced.
array slice_update(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                   StreamOrDevice s = {});
array slice_update(const array& src, const array& update, Shape start, Shape stop,
                   StreamOrDevice s = {});
array slice_update(const array& src, const array& update, const array& start, std::vector<int> axes,
                   StreamOrDevice s = {});
// Returns the array with a slice combined with the update.
#define MLX_SLICE_UPDATE(name)                                                              \
  array name(const array& src, const array& update, Shape start, Shape stop, Shape strides, \
             StreamOrDevice s = {});                                                        \
  array name(const array& src, const array& update, Shape start, Shape stop, StreamOrDevice s = {});
MLX_SLICE_UPDATE(slice_update_add)
MLX_SLICE_UPDATE(slice_update_prod)
MLX_SLICE_UPDATE(slice_update_max)
MLX_SLICE_UPDATE(slice_update_min)
#undef MLX_SLICE_UPDATE

array take(const array& a, const array& indices, int axis, StreamOrDevice s = {});
array take(const array& a, int index, int axis, StreamOrDevice s = {});
array take(const array& a, const array& indices, StreamOrDevice s = {});
array take(const array& a, int index, StreamOrDevice s = {});
array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s = {});
array put_along_axis(const array& a, const array& indices, const array& values, int axis,
                     StreamOrDevice s = {});
// Like put_along_axis, but adds the values.
array scatter_add_axis(const array& a, const array& indices, const array& values, int axis,
                       StreamOrDevice s = {});

// The output has the (broadcast) shape of the indices, then slice_sizes, one entry per axis of `a`.
array gather(const array& a, const std::vector<array>& indices, const std::vector<int>& axes,
             const Shape& slice_sizes, StreamOrDevice s = {});
inline array gather(const array& a, const array& indices, int axis, const Shape& slice_sizes,
                    StreamOrDevice s = {}) {
  return gather(a, std::vector<array>{indices}, std::vector<int>{axis}, slice_sizes, s);
}

// The updates have the (broadcast) shape of the indices, then that of a slice, one entry per axis
// of `a`.
#define MLX_SCATTER(name)                                                                 \
  array name(const array& a, const std::vector<array>& indices, const array& updates,     \
             const std::vector<int>& axes, StreamOrDevice s = {});                        \
  inline array name(const array& a, const array& indices, const array& updates, int axis, \
                    StreamOrDevice s = {}) {                                              \
    return name(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);      \
  }
MLX_SCATTER(scatter)
MLX_SCATTER(scatter_add)
MLX_SCATTER(scatter_prod)
MLX_SCATTER(scatter_max)
MLX_SCATTER(scatter_min)
#undef MLX_SCATTER

// Replaces the elements where `mask` is true by consecutive elements of `src`. The mask covers
// leading axes of `a`.
array masked_scatter(const array& a, const array& mask, const array& src, StreamOrDevice s = {});

}  // namespace mlx::core
