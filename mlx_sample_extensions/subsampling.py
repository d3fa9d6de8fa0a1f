"""Subsampling of point clouds."""

import mlx.core as mx
from mlx_sample_extensions._ext import _grid_cells, scatter


def grid_subsample(
    positions: mx.array,
    size: float,
    features: mx.array | None = None,
    lengths: mx.array | None = None,
    reduce: str = "mean",
    *,
    check: bool = True,
    stream: mx.Stream | mx.Device | None = None,
) -> tuple[mx.array, mx.array | None, mx.array, mx.array]:
    """One point for each cell of a grid that contains points. Evaluates the positions.

    Args:
        positions: Points, of shape (N, D), all finite.
        size: The length of the cells' edges, in the points' unit. Their corners are its multiples.
        features: Features of the points, of shape (N, ...).
        lengths: Points of each cloud of a ragged batch, of shape (B,), in sum N. Clouds have cells
            of their own.
        reduce: How features of a cell become one, as for ``scatter``; of positions it is the mean.
        check: Whether the values of the lengths are checked.
        stream: Where to run.

    Returns:
        Positions (M, D), the cells' means, and features (M, ...), both differentiable; lengths
        (B,) int32, the cells of each cloud; cells (N,) int32, to which of the M each point went.

    Raises:
        ValueError: If an argument is not as described.
    """
    if features is not None and (features.ndim == 0 or features.shape[0] != positions.shape[0]):
        raise ValueError(
            f"[grid_subsample] features must have as many rows as there are points, "
            f"{positions.shape[0]}, but they have shape {features.shape}."
        )
    cells, cell_lengths = _grid_cells(positions, size, lengths, check=check)
    count = int(cell_lengths.sum().item())

    def merge(values: mx.array, how: str) -> mx.array:
        return scatter(values, cells, 0, count, how, check=False, stream=stream)

    merged = None if features is None else merge(features, reduce)
    return merge(positions, "mean"), merged, cell_lengths, cells
