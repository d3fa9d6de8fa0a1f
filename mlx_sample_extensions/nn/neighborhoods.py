"""Which points each output of a layer sees: triplets of kernel cell, point and output."""

from typing import Any

import mlx.core as mx
import mlx.utils
from mlx_sample_extensions._ext import knn, radius_search, repeat_interleave, segment_reduce
from mlx_sample_extensions.nn.checks import check_batch, check_positive, refuse
from mlx_sample_extensions.point_clouds import Clouds


class Neighborhood:
    """Pairs of an output point and a point that it sees, sorted by output.

    With kernel cells these are the triplets (i, j, k) that :class:`PointConv` sums over. Made by
    :func:`find_neighbors`. A tree for transformations, whose arrays are its children: an argument of a
    compiled function.

    Attributes:
        cells: i, the kernel cell of each pair, of shape (T,), int32; None without a kernel.
        points: j, the point of each pair among all N of the source, of shape (T,), int32.
        queries: k, the output of each pair among all Q, of shape (T,), int32, in ascending order.
        lengths: How many pairs each output has, of shape (Q,), int32; in each, the nearest is first.
        n_points: N.
        k: The most pairs that an output can have.
        radius: What relative positions are divided by, or None.
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
        """Each pair's point as its output sees it, in units of the radius if there is one.

        Args:
            positions: Points of the source, of shape (N, D).
            targets: Outputs, of shape (Q, D).

        Returns:
            Differences, of shape (T, D), differentiable in both.
        """
        difference = mx.take(positions, self.points, 0) - mx.take(targets, self.queries, 0)
        return difference if self.radius is None else difference / self.radius

    def padded(self, values: mx.array) -> mx.array:
        """Values of pairs (T, ...) with a row of k for each output, (Q, k, ...), filled with zeros."""
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

    Evaluates the positions, and follows them with no gradient. Neighbours of a batch in itself are
    found once: the batch keeps them, as do batches with other features that it is replaced by.

    The kernel is a cube of ``kernel_offsets`` = n^D cells around the query that holds the ball of
    the radius, or without one the ball through the query's furthest neighbour. With r for that
    radius, a neighbour at p of a query at q is in the cell whose coordinates are
    ``floor((p - q + r) * n / (2 r))``, each at most n - 1; the last coordinate counts fastest.

    Args:
        source: Where to look: positions of shape (N, D).
        k: The most neighbours of a query.
        queries: What has neighbours: as many clouds as the source has; by default its points.
        radius: How far neighbours may be away.
        kernel_offsets: The number of kernel cells; without it neighbours have none.

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
    # Neighbours come first in the rows of k.
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
    """The kernel cell of each row, where the kernel reaches from -1 to 1."""
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
