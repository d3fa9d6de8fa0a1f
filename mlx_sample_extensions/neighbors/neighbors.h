// Neighbour searches: the nearest points, points within a radius, and one point per grid cell.
#pragma once

#include <optional>
#include <tuple>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

using Lengths = std::optional<mx::array>;

// For each of the queries (Q, D) the k nearest of the points (N, D), nearest first, and by index at
// the same distance: (indices (Q, k) int32, distances (Q, k) float32, counts (Q,) int32). In ragged
// batches, given by the lengths, queries only have neighbours in their own cloud. If there are
// fewer than k, the indices after the first counts[q] are -1 and their distances infinite.
std::tuple<mx::array, mx::array, mx::array> knn(const mx::array& points, const mx::array& queries,
                                                int k, const Lengths& lengths = std::nullopt,
                                                const Lengths& query_lengths = std::nullopt,
                                                bool check = true, mx::StreamOrDevice s = {});

// The points at a distance of at most `radius` from each query, nearest first, in rows of
// max_neighbors as in knn. counts has the number of all such points, which may exceed
// max_neighbors.
std::tuple<mx::array, mx::array, mx::array> radius_search(
    const mx::array& points, const mx::array& queries, float radius, int max_neighbors,
    const Lengths& lengths = std::nullopt, const Lengths& query_lengths = std::nullopt,
    bool check = true, mx::StreamOrDevice s = {});

// The cells of a grid that contain points: (cells (N,) int32, the index of each point's cell;
// lengths (B,) int32, the number of cells of each cloud). Cells are cubes of the given size,
// numbered by their first points. Evaluates the points.
std::tuple<mx::array, mx::array> grid_cells(const mx::array& points, float size,
                                            const Lengths& lengths = std::nullopt,
                                            bool check = true);

}  // namespace mlx_sample
