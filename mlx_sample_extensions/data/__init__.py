"""Readers of point clouds, ragged batches, and random augmentation for training."""

from mlx_sample_extensions.data.augmentation import drop_points, jitter, rotate, scale
from mlx_sample_extensions.data.batching import Cloud, batches
from mlx_sample_extensions.data.readers import read_npz, read_off, read_ply

__all__ = [
    "Cloud",
    "batches",
    "drop_points",
    "jitter",
    "read_npz",
    "read_off",
    "read_ply",
    "rotate",
    "scale",
]
