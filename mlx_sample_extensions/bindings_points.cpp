// Bindings of the operations on point clouds.
#include "distances/distances.h"
#include "mlx/python/casters.h"
#include "neighbors/neighbors.h"
#include "segments/segments.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace {

void bind_segments(py::module_& m) {
  m.def("segment_reduce", &mlx_sample::segment_reduce, "x"_a, "lengths"_a, "operation"_a = "sum",
        py::kw_only(), "check"_a = true, "stream"_a = py::none(),
        R"(Reduces segments of rows that follow each other.

Differentiable in x; of prod, twice. Rows that tie for a maximum or minimum share its gradient evenly.

Args:
    x (array): Rows, of shape (T, ...): floats of at most single precision, which are added up in
        float32, or integers.
    lengths (array): Rows of each segment, of shape (K,), in sum T: int32, uint32 or int64.
    operation (str): "sum", "mean", "max", "min" or "prod".
    check (bool): Whether the values of lengths are checked. They must be right if not.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: One value for each segment, of shape (K, ...). Empty segments give 0, and 1 for prod.
    Integers of fewer than 32 bits become int32, and integers become float32 for mean.

Raises:
    ValueError: If an argument is not as described; for lengths that are not known yet, when the
        result is evaluated.)");
  m.def("indexed_segment_reduce", &mlx_sample::indexed_segment_reduce, "x"_a, "indices"_a,
        "lengths"_a, "operation"_a = "sum", py::kw_only(), "check"_a = true,
        "stream"_a = py::none(),
        R"(Reduces segments of rows in any order: segment_reduce(x[indices], lengths, operation)
without making x[indices].

Args:
    x (array): Rows, of shape (N, ...), as for segment_reduce.
    indices (array): The rows of all segments, one segment after the other, of shape (T,): int32,
        uint32 or int64 in [0, N). Rows may come several times, or never.
    lengths (array): Indices of each segment, of shape (K,), in sum T.
    operation (str): "sum", "mean", "max", "min" or "prod".
    check (bool): Whether the values of indices and lengths are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: One value for each segment, of shape (K, ...), as of segment_reduce.

Raises:
    ValueError: As segment_reduce.)");
  m.def("scatter", &mlx_sample::scatter, "src"_a, "index"_a, "dim"_a = 0, "dim_size"_a = py::none(),
        "reduce"_a = "sum", py::kw_only(), "check"_a = true, "stream"_a = py::none(),
        R"(Reduces the slices of an array that have the same index. The order of additions is always
the same.

Args:
    src (array): Values, of any shape, as for segment_reduce.
    index (array): Where each slice of src along axis dim goes, of shape (src.shape[dim],); or where
        along that axis each element goes, of src's shape. int32, uint32 or int64 in [0, dim_size).
    dim (int): The axis.
    dim_size (int, optional): Length of the result along the axis; by default one more than the
        largest index, which has to be computed first.
    reduce (str): "sum", "mean", "max", "min" or "prod".
    check (bool): Whether the values of index are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: src's shape, but dim_size along the axis. What nothing goes to is 0, and 1 for prod.

Raises:
    ValueError: If an argument is not as described.)");
  m.def("repeat_interleave", &mlx_sample::repeat_interleave, "x"_a, "repeats"_a,
        "axis"_a = py::none(), "total"_a = py::none(), py::kw_only(), "check"_a = true,
        "stream"_a = py::none(),
        R"(Repeats each slice of an array its own number of times.

Args:
    x (array): Values of any type.
    repeats (array): How often each slice comes, of shape (x.shape[axis],), or (1,) for all: int32,
        uint32 or int64.
    axis (int, optional): The axis; by default x is flattened first.
    total (int, optional): The sum of repeats. Without it the repeats are evaluated at once.
    check (bool): Whether the values of repeats are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: x's shape, but total along the axis.

Raises:
    ValueError: If an argument is not as described.)");
}

void bind_distances(py::module_& m) {
  m.def("indexed_distance", &mlx_sample::indexed_distance, "a"_a, "b"_a, "a_indices"_a = py::none(),
        "b_indices"_a = py::none(), "metric"_a = "euclidean", py::kw_only(), "check"_a = true,
        "stream"_a = py::none(),
        R"(Distances between all pairs of two sets of points.

Differentiable in a and b. Where a distance has a kink (zero distance, zero vectors, for manhattan
equal coordinates) its gradient is 0. Besides the result only copies of the points are made.

Args:
    a (array): Points, of shape (N, D): floats of at most single precision, or integers.
    b (array): Points, of shape (M, D).
    a_indices (array, optional): Which points of a, of shape (I,): int32, uint32 or int64 in [0, N).
    b_indices (array, optional): Which points of b, of shape (J,).
    metric (str): "euclidean", "squared_euclidean", "manhattan", or "cosine": 1 - the cosine of the
        angle between the points as vectors; 1 if one of them is zero.
    check (bool): Whether the values of indices are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: The distance of point a_indices[i] to point b_indices[j] at [i, j]; of shape (I, J).

Raises:
    ValueError: If an argument is not as described.)");
  m.def("paired_distance", &mlx_sample::paired_distance, "a"_a, "b"_a, "a_indices"_a = py::none(),
        "b_indices"_a = py::none(), "metric"_a = "euclidean", py::kw_only(), "check"_a = true,
        "stream"_a = py::none(),
        R"(Distances between the points of listed pairs.

Differentiable in a and b, with gradients as of indexed_distance. Neither the distances nor their
first gradients make an array with a place for every pair and coordinate.

Args:
    a (array): Points, of shape (N, D), as for indexed_distance.
    b (array): Points, of shape (M, D).
    a_indices (array, optional): The first point of each pair, of shape (T,); else all of a.
    b_indices (array, optional): The second point of each pair, of shape (T,); else all of b.
    metric (str): As for indexed_distance.
    check (bool): Whether the values of indices are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: The distance of each pair, of shape (T,).

Raises:
    ValueError: If an argument is not as described.)");
}

void bind_neighbors(py::module_& m) {
  m.def("knn", &mlx_sample::knn, "points"_a, "queries"_a, "k"_a, "lengths"_a = py::none(),
        "query_lengths"_a = py::none(), py::kw_only(), "check"_a = true, "stream"_a = py::none(),
        R"(The nearest points of each query. Exact, by a k-d tree for each cloud.

Args:
    points (array): Points, of shape (N, D). All computation is in float32.
    queries (array): Where to look, of shape (Q, D).
    k (int): How many points to find for each query.
    lengths (array, optional): Points of each cloud of a ragged batch, of shape (B,), in sum N.
        Queries have neighbours in their own cloud only.
    query_lengths (array, optional): Queries of each cloud, of shape (B,), in sum Q.
    check (bool): Whether the values of the lengths are checked.
    stream (Stream or Device, optional): Where to search. The host builds the trees.

Returns:
    tuple: indices (Q, k) int32 of points among all N, nearest first and by index at the same
    distance; distances (Q, k) float32, euclidean, differentiable in points and queries with
    gradient 0 at distance 0; counts (Q,) int32, how many there are: min(k, points of the cloud).
    Behind them indices are -1 and distances infinite. Points that are not finite are nobody's
    neighbours and have none.

Raises:
    ValueError: If an argument is not as described.)");
  m.def("radius_search", &mlx_sample::radius_search, "points"_a, "queries"_a, "radius"_a,
        "max_neighbors"_a, "lengths"_a = py::none(), "query_lengths"_a = py::none(), py::kw_only(),
        "check"_a = true, "stream"_a = py::none(),
        R"(The points at a distance of at most `radius` from each query, nearest first.

Args:
    points (array): Points, of shape (N, D), as for knn.
    queries (array): Where to look, of shape (Q, D).
    radius (float): The distance, in the points' unit.
    max_neighbors (int): How many points to return for each query: the nearest.
    lengths (array, optional): Points of each cloud, as for knn.
    query_lengths (array, optional): Queries of each cloud.
    check (bool): Whether the values of the lengths are checked.
    stream (Stream or Device, optional): Where to run.

Returns:
    tuple: indices (Q, max_neighbors) and distances (Q, max_neighbors) as of knn, and counts (Q,)
    int32: how many points there are within the radius, which may be more than max_neighbors.

Raises:
    ValueError: If an argument is not as described.)");
  m.def("_grid_cells", &mlx_sample::grid_cells, "points"_a, "size"_a, "lengths"_a = py::none(),
        py::kw_only(), "check"_a = true);
}

}  // namespace

void bind_points(py::module_& m) {
  bind_segments(m);
  bind_distances(m);
  bind_neighbors(m);
}
