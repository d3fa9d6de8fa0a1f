// Helpers for derivatives and vmap of several primitives.
#pragma once

#include <optional>

#include "mlx/ops/build.h"
#include "mlx/primitives/primitive.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

using VmapResult = std::pair<std::vector<array>, std::vector<int>>;

// Moves the mapped axis to the front; returns an array without one (axis -1) as it is.
array axis_in_front(const array& a, int axis, const Stream& s);
// The same, but gives an array without one an axis of length 1, or of the full length.
array axis_in_front_or_new(const array& a, int axis, const Stream& s);
array axis_in_front_or_repeated(const array& a, int axis, int length, const Stream& s);

// The length of the mapped axis.
int mapped_length(const std::vector<array>& inputs, const std::vector<int>& axes);

// axes + 1
std::vector<int> shifted(std::vector<int> axes);
// `first`, then `shape`
Shape prepended(int first, const Shape& shape);

// The position of `arg` in `argnums`, or -1.
int position(const std::vector<int>& argnums, int arg);

// A zero array for each of argnums.
std::vector<array> zero_cotangents(const std::vector<array>& primals,
                                   const std::vector<int>& argnums, const Stream& s);

// Throws if one of argnums is an index array: from `first` on, before `end`.
void refuse_indices(const std::vector<int>& argnums, int first, int end, const char* op);

// The rules of a primitive that computes the same as `fun`.
std::vector<array> jvp_as(const ArraysFunction& fun, const std::vector<array>& primals,
                          const std::vector<array>& tangents, const std::vector<int>& argnums);
VmapResult vmap_as(const ArraysFunction& fun, const std::vector<array>& inputs,
                   const std::vector<int>& axes);

// a + b, where either may be missing.
void accumulate(std::optional<array>& sum, const array& term, const Stream& s);

}  // namespace mlx::core
