// Distances between points: of all pairs, or of listed pairs.
#pragma once

#include <optional>
#include <string>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

// The matrix d[i, j] = |a[a_indices[i]] - b[b_indices[j]]| of points a (N, D) and b (M, D); without
// indices, of all points in order. metric: euclidean, squared_euclidean, manhattan, or cosine: 1 -
// the cosine of the angle between the points as vectors, or 1 if one of them is zero. Where a
// distance is not differentiable (zero distance, zero vectors) its gradient is 0.
mx::array indexed_distance(const mx::array& a, const mx::array& b,
                           const std::optional<mx::array>& a_indices = std::nullopt,
                           const std::optional<mx::array>& b_indices = std::nullopt,
                           const std::string& metric = "euclidean", bool check = true,
                           mx::StreamOrDevice s = {});

// The vector d[t] = |a[a_indices[t]] - b[b_indices[t]]|; without indices, of the points in order.
mx::array paired_distance(const mx::array& a, const mx::array& b,
                          const std::optional<mx::array>& a_indices = std::nullopt,
                          const std::optional<mx::array>& b_indices = std::nullopt,
                          const std::string& metric = "euclidean", bool check = true,
                          mx::StreamOrDevice s = {});

}  // namespace mlx_sample
