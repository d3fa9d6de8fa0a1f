// What products share whose indices pick matrices.
#pragma once

#include <string>

#include "mlx/ops/common.h"

namespace mlx::core {

// (batch..., m, n) with one axis for the batch.
array flattened_batch(const array& a, const Stream& s);

// 0, 1, 2, ... in the shape of a batch.
array own_indices(const Shape& batch, const Stream& s);

// Both arrays of indices, in one shape, of matrices of a and b. Where one is missing, each matrix
// is taken once, in order.
std::pair<array, array> index_pairs(const std::string& op, const std::optional<array>& lhs,
                                    const std::optional<array>& rhs, const array& a, const array& b,
                                    const Stream& s);

bool shape_of_nothing(const Shape& shape);

}  // namespace mlx::core
