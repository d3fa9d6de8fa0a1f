// Linear algebra beyond products.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core::linalg {

// Singular values of (..., M, N), with U (..., M, M) before and Vt (..., N, N) after them if
// compute_uv.
std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s = {});
inline std::vector<array> svd(const array& a, StreamOrDevice s = {}) { return svd(a, true, s); }

}  // namespace mlx::core::linalg
