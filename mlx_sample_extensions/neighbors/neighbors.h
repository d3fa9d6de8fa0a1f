// Neighbours of points: the nearest ones, those within a radius, and one for each cell of a grid.
#pragma once

#include <optional>
#include <tuple>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

using Lengths = std::optional<mx::array>;

// For each of the queries (Q, D) the k nearest of the points (N, D), nearest first, those at the
// same distance by index: (indices (Q, k) int32, distances (Q, k) float32, counts (Q,) int32). In
// ragged batches, as the lengths say, queries have neighbours in their own cloud only. Where there
// are fewer than k, the indices after the first counts[q] are -1 and their distances infinite.
std::tuple<mx::array, mx::array, mx::array> knn(const mx::array& points, const mx::array& queries,
                                                int k, const Lengths& lengths = std::nullopt,
                                                const Lengths& query_lengths = std::nullopt,
                                                bool check = true, mx::StreamOrDevice s = {});

// The points at a distance of at most `radius` from each query, nearest first: in rows of
// max_neighbors as knn gives them. counts may exceed max_neighbors: it says how many there are.
std::tuple<mx::array, mx::array, mx::array> radius_search(
    const mx::array& points, const mx::array& queries, float radius, int max_neighbors,
    const Lengths& lengths = std::nullopt, const Lengths& query_lengths = std::nullopt,
    bool check = true, mx::StreamOrDevice s = {});

// The cells of a grid that hold points: (cells (N,) int32, the number of each point's cell; lengths
// (B,) int32, the number of cells of each cloud). Cells are cubes of the given size, numbered in
// the order in which their first points come. Evaluates the points.
std::tuple<mx::array, mx::array> grid_cells(const mx::array& points, float size,
                                            const Lengths& lengths = std::nullopt,
                                            bool check = true);

}  // namespace mlx_sample
