"""Ragged batches of clouds, optionally in random order."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import mlx.core as mx
from mlx_sample_extensions.point_clouds import PointCloudBatch


class Cloud(NamedTuple):
    """A single cloud.

    Args:
        positions: Points, of shape (N, D).
        features: Features of the points, of shape (N, ...), or None.
        label: An integer for the cloud, an array of shape (N,) for its points, or None.
    """

    positions: mx.array
    features: mx.array | None = None
    label: int | mx.array | None = None


def batches(
    clouds: Sequence[Cloud],
    batch_size: int,
    *,
    key: mx.array | None = None,
    drop_last: bool = False,
) -> Iterator[tuple[PointCloudBatch, mx.array | None]]:
    """Iterates once over clouds, in ragged batches.

    Args:
        clouds: Clouds, of any numbers of points. All have features and labels of the same kind.
        batch_size: Clouds in a batch; the last one may have fewer.
        key: A key of ``mx.random`` to shuffle by; without one the order stays.
        drop_last: Whether to omit a last batch with fewer clouds.

    Yields:
        A batch and its labels: of shape (clouds,) int32 if they are numbers, the points' of all
        its clouds if they are arrays, None if there are none.

    Raises:
        ValueError: If batch_size is not positive, or clouds differ in kind.
    """
    if batch_size < 1:
        raise ValueError(f"[batches] Invalid batch_size {batch_size}: it must be positive.")
    _check(clouds)
    order = range(len(clouds)) if key is None else _shuffled(len(clouds), key)
    end = len(clouds) - len(clouds) % batch_size if drop_last else len(clouds)
    return (
        _joined([clouds[i] for i in order[start : start + batch_size]])
        for start in range(0, end, batch_size)
    )


def _shuffled(count: int, key: mx.array) -> list[int]:
    return mx.random.permutation(count, key=key).tolist() if count else []


def _kind(cloud: Cloud) -> tuple[bool, str]:
    label = cloud.label
    of_label = "no" if label is None else "point" if getattr(label, "ndim", 0) else "cloud"
    return cloud.features is not None, of_label


def _check(clouds: Sequence[Cloud]) -> None:
    for number, cloud in enumerate(clouds):
        if _kind(cloud) != _kind(clouds[0]):
            raise ValueError(
                f"[batches] All clouds must have features, and labels of clouds or of points, or "
                f"none must, but cloud {number} differs from cloud 0."
            )
        label = cloud.label
        if getattr(label, "ndim", 0) and label.shape != cloud.positions.shape[:1]:
            raise ValueError(
                f"[batches] The label of cloud {number} must have shape "
                f"{cloud.positions.shape[:1]}, but it has shape {label.shape}."
            )


def _joined(clouds: list[Cloud]) -> tuple[PointCloudBatch, mx.array | None]:
    with_features, of_label = _kind(clouds[0])
    batch = PointCloudBatch(
        mx.concatenate([cloud.positions for cloud in clouds]),
        mx.concatenate([cloud.features for cloud in clouds]) if with_features else None,
        mx.array([cloud.positions.shape[0] for cloud in clouds], dtype=mx.int32),
    )
    if of_label == "no":
        return batch, None
    if of_label == "point":
        return batch, mx.concatenate([cloud.label for cloud in clouds])
    return batch, mx.array([int(cloud.label) for cloud in clouds], dtype=mx.int32)
