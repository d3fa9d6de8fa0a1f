"""The neighbours of outputs, as triplets of kernel cell, point and output."""

from typing import Any

import mlx.core as mx
import mlx.utils
from mlx_sample_extensions._ext import knn, radius_search, repeat_interleave, segment_reduce
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_batch, check_positive
from mlx_sample_extensions.point_clouds import Clouds


class Neighborhood:
    """Pairs of an output point and one of its neighbours, sorted by output.

    With kernel cells these are the triplets (i, j, k) that :class:`PointConv` sums over. Made by
    :func:`find_neighbors`. A tree for transformations with its arrays as children, so that compiled
    functions can take it as an argument.

    Attributes:
        cells: i, the kernel cell of each pair, of shape (T,), int32; None without a kernel.
        points: j, the point of each pair among all N of the source, of shape (T,), int32.
        queries: k, the output of each pair among all Q, of shape (T,), int32, in ascending order.
        lengths: The number of pairs of each output, of shape (Q,), int32, the nearest point first.
        n_points: N.
        k: The largest number of pairs of an output.
        radius: The divisor of relative positions, or None.
    """

    def __init__(
        self,
        points: mx.array,
        queries: mx.array,
        lengths: mx.array,
        cells: mx.array | None,
        n_points: int,
        k: int,
        radius: float | None,
    ) -> None:
        self.points, self.queries, self.lengths, self.cells = points, queries, lengths, cells
        self.n_points, self.k, self.radius = n_points, k, radius

    @property
    def n_queries(self) -> int:
        """The number of outputs, Q."""
        return self.lengths.shape[0]

    def __repr__(self) -> str:
        return (
            f"Neighborhood({self.points.shape[0]} pairs of {self.n_points} points and "
            f"{self.n_queries} outputs)"
        )

    def relative(self, positions: mx.array, targets: mx.array) -> mx.array:
        """The position of each pair's point relative to its output, divided by the radius if given.

        Args:
            positions: Points of the source, of shape (N, D).
            targets: Outputs, of shape (Q, D).

        Returns:
            Differences, of shape (T, D), differentiable in both.
        """
        difference = mx.take(positions, self.points, 0) - mx.take(targets, self.queries, 0)
        return difference if self.radius is None else difference / self.radius

    def padded(self, values: mx.array) -> mx.array:
        """Values of pairs (T, ...) as rows of k for each output, (Q, k, ...), padded with zeros."""
        shape = (self.n_queries, self.k, *values.shape[1:])
        if not values.shape[0]:
            return mx.zeros(shape, values.dtype)
        place = mx.arange(self.k)[None]
        there = place < self.lengths[:, None]
        starts = mx.cumsum(self.lengths) - self.lengths
        rows = mx.take(values, mx.where(there, starts[:, None] + place, 0), 0)
        there = there.reshape(*there.shape, *[1] * (values.ndim - 1))
        return mx.where(there, rows, mx.zeros((), values.dtype))


def find_neighbors(
    source: Clouds,
    k: int,
    queries: Clouds | None = None,
    *,
    radius: float | None = None,
    kernel_offsets: int | None = None,
) -> Neighborhood:
    """The neighbours of each query in its cloud: the k nearest, of those within a radius if given.

    Evaluates the positions; the search has no gradient. The neighbours of a batch within itself are
    cached in the batch, and in the batches with other features that ``replace`` makes of it.

    The kernel is a cube of ``kernel_offsets`` = n^D cells with the query in its centre. Half its
    edge, r, is the radius, or without one the distance of the query's furthest neighbour. A
    neighbour at p of a query at q is in the cell with the coordinates
    ``floor((p - q + r) * n / (2 r))``, each at most n - 1. Cells are numbered in row-major order.

    Args:
        source: The points to search, of shape (N, D).
        k: The largest number of neighbours of a query.
        queries: The points whose neighbours to find, in as many clouds; by default the source's.
        radius: The largest distance of a neighbour.
        kernel_offsets: The number of kernel cells; without it no cells are computed.

    Returns:
        The pairs, sorted by query.

    Raises:
        TypeError: If source or queries is no batch of point clouds.
        ValueError: If another argument is not as described.
    """
    name = "find_neighbors"
    check_batch(name, "source", source)
    check_positive(name, "k", k)
    if radius is not None and not 0 < radius < float("inf"):
        refuse(name, f"Invalid radius {radius}: it must be finite and positive.")
    if queries is not None and queries is not source:
        check_batch(name, "queries", queries)
        return _search(source, queries, k, radius, kernel_offsets)
    key = ("neighbors", k, radius, kernel_offsets)
    if key not in source._structures:
        source._structures[key] = _search(source, source, k, radius, kernel_offsets)
    return source._structures[key]


def _search(
    source: Clouds, queries: Clouds, k: int, radius: float | None, kernel_offsets: int | None
) -> Neighborhood:
    if queries.batch_size != source.batch_size:
        refuse(
            "find_neighbors",
            f"queries must have as many clouds as source, {source.batch_size}, but they have "
            f"{queries.batch_size}.",
        )
    positions, targets = (
        mx.stop_gradient(batch.positions).astype(mx.float32) for batch in (source, queries)
    )
    lengths = source.lengths, queries.lengths
    if radius is None:
        indices, distances, counts = knn(positions, targets, k, *lengths, check=False)
    else:
        indices, distances, counts = radius_search(
            positions, targets, radius, k, *lengths, check=False
        )
    counts = mx.minimum(counts, k)
    # The first entries of each row of k are neighbours, the others padding.
    total = int(counts.sum().item())
    count = targets.shape[0]
    rows = repeat_interleave(mx.arange(count, dtype=mx.int32), counts, 0, total, check=False)
    if total == count * k:
        points, distances = indices.reshape(-1), distances.reshape(-1)
    else:
        slots = mx.arange(total, dtype=mx.int32) - mx.take(mx.cumsum(counts) - counts, rows)
        places = rows * k + slots
        points, distances = (mx.take(v.reshape(-1), places) for v in (indices, distances))
    found = Neighborhood(points, rows, counts, None, positions.shape[0], k, radius)
    if kernel_offsets is not None:
        side = cells_per_axis("find_neighbors", kernel_offsets, positions.shape[1])
        if radius is None:
            reach = mx.take(segment_reduce(distances, counts, "max", check=False), rows)[:, None]
            reach = mx.where(reach > 0, reach, 1.0)
        else:
            reach = mx.array(1.0)
        found.cells = _cells(found.relative(positions, targets) / reach, side)
    mx.eval(found)
    return found


def cells_per_axis(owner: str, kernel_offsets: int, dims: int) -> int:
    """The n of n^D kernel cells, checked."""
    check_positive(owner, "kernel_offsets", kernel_offsets)
    side = round(kernel_offsets ** (1 / max(dims, 1)))
    if side**dims != kernel_offsets:
        refuse(
            owner,
            f"Invalid kernel_offsets {kernel_offsets}: points with {dims} coordinates need n^{dims} "
            f"cells, such as {3**dims}.",
        )
    return side


def _cells(relative: mx.array, side: int) -> mx.array:
    """The kernel cell of each row, for a kernel from -1 to 1 in every coordinate."""
    places = mx.clip(mx.floor((relative + 1) * (side / 2)), 0, side - 1).astype(mx.int32)
    weights = [side**power for power in reversed(range(relative.shape[1]))]
    return (places * mx.array(weights, dtype=mx.int32)).sum(1).astype(mx.int32)


def _flatten(found: Neighborhood) -> tuple[dict[str, Any], tuple[Any, ...]]:
    children = {"points": found.points, "queries": found.queries, "lengths": found.lengths}
    if found.cells is not None:
        children["cells"] = found.cells
    return children, (found.n_points, found.k, found.radius)


def _unflatten(children: dict[str, Any], rest: tuple[Any, ...]) -> Neighborhood:
    parts = (children[name] for name in ("points", "queries", "lengths"))
    return Neighborhood(*parts, children.get("cells"), *rest)


mlx.utils.register_tree_class(Neighborhood, _flatten, _unflatten)
