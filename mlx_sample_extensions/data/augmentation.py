"""Random augmentation of each cloud of a batch, by keys of ``mx.random``."""

import math

import mlx.core as mx
import numpy as np
from mlx_sample_extensions._ext import segment_reduce
from mlx_sample_extensions._ext import sparse_matrix_vector_multiplication_reduction as mvmr
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.point_clouds import Clouds


def rotate(
    batch: Clouds,
    *,
    axis: int | None = None,
    largest: float = math.pi,
    key: mx.array | None = None,
) -> Clouds:
    """Rotates each cloud around the origin, by a random angle.

    Args:
        batch: Clouds of two or three coordinates.
        axis: The coordinate axis to rotate clouds of three coordinates around; without it rotations
            are uniform, by uniform unit quaternions (Shoemake, 1992).
        largest: The largest angle, in either direction, in the plane or around an axis.
        key: A key of ``mx.random``.

    Raises:
        ValueError: If clouds have another number of coordinates, or axis is none of theirs.
    """
    dims, count = batch.positions.shape[1], batch.batch_size
    if dims not in (2, 3):
        refuse("rotate", f"Positions must have 2 or 3 coordinates, but they have {dims}.")
    if axis is not None and (dims == 2 or axis not in (0, 1, 2)):
        refuse("rotate", f"Invalid axis {axis}: clouds of 3 coordinates have axes 0, 1 and 2.")
    if dims == 3 and axis is None:
        matrices = _of_quaternions(mx.random.normal((count, 4), key=key))
    else:
        angles = mx.random.uniform(-largest, largest, (count,), key=key)
        matrices = _in_the_plane(angles)
        if axis is not None:
            matrices = _around(matrices, axis)
    points = batch.positions[:, None]
    turned = mvmr(
        matrices[:, None], batch.indices, points, None, None, batch.total_points, check=False
    )
    return batch.replace(turned[:, 0].astype(batch.positions.dtype), batch.features)


def scale(batch: Clouds, low: float, high: float, *, key: mx.array | None = None) -> Clouds:
    """Scales each cloud by a random factor.

    Args:
        batch: Clouds.
        low: The smallest factor.
        high: The largest.
        key: A key of ``mx.random``.

    Raises:
        ValueError: If the factors are not positive, or in the wrong order.
    """
    if not 0 < low <= high:
        refuse("scale", f"Invalid factors {low} and {high}: they must be positive and ascending.")
    factors = mx.random.uniform(low, high, (batch.batch_size, 1), key=key)
    positions = batch.positions * mx.take(factors, batch.indices, 0).astype(batch.positions.dtype)
    return batch.replace(positions, batch.features)


def jitter(
    batch: Clouds, deviation: float, largest: float | None = None, *, key: mx.array | None = None
) -> Clouds:
    """Moves each point by normally distributed random numbers.

    Args:
        batch: Clouds.
        deviation: The standard deviation of the numbers.
        largest: Their largest absolute value; larger ones are clipped.
        key: A key of ``mx.random``.

    Raises:
        ValueError: If deviation or largest is negative.
    """
    if not deviation >= 0 or (largest is not None and not largest >= 0):
        refuse("jitter", f"Invalid deviation {deviation} or largest {largest}: below 0.")
    moves = mx.random.normal(batch.positions.shape, key=key) * deviation
    if largest is not None:
        moves = mx.clip(moves, -largest, largest)
    return batch.replace(batch.positions + moves.astype(batch.positions.dtype), batch.features)


def drop_points(
    batch: Clouds, share: float, *, key: mx.array | None = None
) -> tuple[Clouds, mx.array]:
    """Removes random points, but never all of a cloud.

    Args:
        batch: Clouds.
        share: The probability that a point is removed.
        key: A key of ``mx.random``.

    Returns:
        The batch, and the indices of the points kept, of shape (T',) int32: their labels are
        ``labels[kept]``.

    Raises:
        ValueError: If share is not in [0, 1).
    """
    if not 0 <= share < 1:
        refuse("drop_points", f"Invalid share {share}: it must be in [0, 1).")
    draws = mx.random.uniform(shape=(batch.total_points,), key=key)
    highest = segment_reduce(draws, batch.lengths, "max", check=False)
    stays = (draws >= share) | (draws == mx.take(highest, batch.indices))
    kept = mx.array(np.flatnonzero(np.array(stays)).astype(np.int32))
    lengths = segment_reduce(stays.astype(mx.int32), batch.lengths, check=False)
    return batch._with_rows(kept, lengths), kept


def _in_the_plane(angles: mx.array) -> mx.array:
    cos, sin = mx.cos(angles), mx.sin(angles)
    return mx.stack([mx.stack([cos, -sin], 1), mx.stack([sin, cos], 1)], 1)


def _around(plane: mx.array, axis: int) -> mx.array:
    """Rotations in 3-D from those of the two other axes, the next one first."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrices = mx.broadcast_to(mx.eye(3), (plane.shape[0], 3, 3))
    for i, row in enumerate((first, second)):
        for j, column in enumerate((first, second)):
            matrices = matrices.at[:, row, column].add(plane[:, i, j] - float(row == column))
    return matrices


def _of_quaternions(q: mx.array) -> mx.array:
    w, x, y, z = mx.split(q * mx.rsqrt((q * q).sum(1, keepdims=True)), 4, axis=1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return mx.stack([mx.concatenate(row, 1) for row in rows], 1)
