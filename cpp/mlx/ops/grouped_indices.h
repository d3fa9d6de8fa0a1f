// Helpers for products of matrices chosen by indices.
#pragma once

#include <string>

#include "mlx/ops/common.h"

namespace mlx::core {

// Reshapes to (batch..., m, n) with a single batch axis.
array flattened_batch(const array& a, const Stream& s);

// 0, 1, 2, ... in the shape of a batch.
array own_indices(const Shape& batch, const Stream& s);

// Both index arrays, broadcast to one shape, for the matrices of a and b. A missing one takes each
// matrix once, in order.
std::pair<array, array> index_pairs(const std::string& op, const std::optional<array>& lhs,
                                    const std::optional<array>& rhs, const array& a, const array& b,
                                    const Stream& s);

bool shape_of_nothing(const Shape& shape);

}  // namespace mlx::core
