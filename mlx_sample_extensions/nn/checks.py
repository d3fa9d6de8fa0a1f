"""Checks of the arguments of layers."""

from typing import Any

import mlx.core as mx
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.point_clouds import Clouds


def check_positive(owner: str, name: str, value: Any) -> None:
    """Raises unless a value is a positive integer."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        refuse(owner, f"Invalid {name} {value!r}: it must be a positive integer.")


def check_batch(owner: str, name: str, batch: Any) -> None:
    """Raises a TypeError unless a value is a batch of point clouds."""
    if not isinstance(batch, Clouds):
        raise TypeError(
            f"[{owner}] {name} must be a PointCloudBatch or an OffsetPointCloudBatch, not "
            f"{type(batch).__name__}."
        )


def checked_features(owner: str, batch: Any, channels: int) -> mx.array:
    """The features of a batch, of shape (T, channels), of floats."""
    check_batch(owner, "batch", batch)
    features = batch.features
    if features is None or features.ndim != 2 or features.shape[1] != channels:
        found = "there are none" if features is None else f"they have shape {features.shape}"
        refuse(owner, f"The batch's features must have shape (points, {channels}), but {found}.")
    if not mx.issubdtype(features.dtype, mx.floating):
        refuse(owner, f"The batch's features must be floats, but they are {features.dtype}.")
    return features


def check_fits(owner: str, neighbors: Any, batch: Clouds, queries: Clouds) -> None:
    """Raises unless the neighbours have as many points and queries as the batches."""
    wanted = batch.total_points, queries.total_points
    found = neighbors.n_points, neighbors.n_queries
    if found != wanted:
        refuse(
            owner,
            f"neighbors must be of {wanted[0]} points and {wanted[1]} queries, but they are of "
            f"{found[0]} and {found[1]}.",
        )
