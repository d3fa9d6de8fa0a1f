"""Layers on point clouds as the tests make them, and batches for them."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx_sample_extensions.nn as points
import numpy as np
from mlx_sample_extensions import PointCloudBatch

LENGTHS = [17, 0, 3, 20]  # one is empty, one has fewer points than neighbours are asked for
CHANNELS = 4


class Pooled(nn.Module):
    """The pooled coarsest level of an encoder, as features of points without a place."""

    def __init__(self, encoder: points.PointCNNEncoder) -> None:
        super().__init__()
        self.encoder, self.pool = encoder, points.GlobalPool(["max", "mean"])

    def levels(self, batch):
        return self.encoder.levels(batch)

    def __call__(self, batch, levels=None):
        return PointCloudBatch(
            mx.zeros((batch.batch_size, 1)), self.pool(self.encoder(batch, levels)[-1])
        )


CNN = partial(points.PointCNNConv, k=5, hidden_channels=8, lift_channels=4)
KERNEL = partial(points.PointConv, k=5)
LAYERS = {
    "kernel": lambda: KERNEL(CHANNELS, 6),
    "kernel in a radius": lambda: points.PointConv(CHANNELS, 6, k=30, radius=1.0, bias=False),
    "kernel in groups": lambda: KERNEL(CHANNELS, 6, 8, groups=2),
    "cnn": lambda: CNN(CHANNELS, 6),
    "cnn in a radius": lambda: CNN(CHANNELS, 6, radius=1.2),
    "cnn mean": lambda: CNN(CHANNELS, 6, aggregation="mean"),
    "cnn sum": lambda: CNN(CHANNELS, 6, aggregation="sum"),
    "x": lambda: CNN(CHANNELS, 6, x_transformation=True),
    "norm": lambda: points.PointBatchNorm(CHANNELS),
    "mlp": lambda: points.PointMLP(CHANNELS, 6),
    "encoder": lambda: Pooled(points.PointCNNEncoder(CHANNELS, [5, 6, 7], 0.8, CNN)),
    "encoder of kernels": lambda: Pooled(
        points.PointCNNEncoder(CHANNELS, [5, 6], [0.8], KERNEL, reduce="mean")
    ),
    "unet": lambda: points.PointUNet(CHANNELS, 3, [5, 6, 7], 0.8, CNN),
    "unet of kernels": lambda: points.PointUNet(CHANNELS, 3, [5, 6], 0.8, KERNEL),
}


def batch_of(rng: np.random.Generator, kind=PointCloudBatch, lengths=LENGTHS, dtype=mx.float32):
    total = sum(lengths)
    batch = PointCloudBatch(
        mx.array(rng.standard_normal((total, 3)).astype(np.float32)),
        mx.array(rng.standard_normal((total, CHANNELS)).astype(np.float32)).astype(dtype),
        mx.array(lengths, dtype=mx.int32),
    )
    return batch if kind is PointCloudBatch else batch.to_offsets()


def structure(layer: nn.Module, batch) -> dict:
    """What the layer finds out of the batch beforehand, as its keyword argument."""
    if hasattr(layer, "levels"):
        return {"levels": layer.levels(batch)}
    return {"neighbors": layer.neighborhood(batch)} if hasattr(layer, "neighborhood") else {}


def close(got, wanted, tolerance: float = 1e-4) -> bool:
    got, wanted = (np.array(x.astype(mx.float32), np.float64) for x in (got, wanted))
    scale = max(1.0, np.abs(wanted).max(initial=0))
    return got.shape == wanted.shape and np.abs(got - wanted).max(initial=0) < tolerance * scale
