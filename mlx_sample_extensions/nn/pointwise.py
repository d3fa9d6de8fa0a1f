"""Layers on single points, and on all points of a cloud."""

from collections.abc import Sequence

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_batch, checked_features
from mlx_sample_extensions.point_clouds import Clouds

POOLINGS = ("max", "mean", "sum", "min")


class PointBatchNorm(nn.BatchNorm):
    """Normalises each channel over the points of all clouds of a ragged batch.

    As ``mlx.nn.BatchNorm`` (Ioffe and Szegedy, 2015), with the same arguments; statistics are of
    points only, not of padding. Mean and variance of 16-bit features are computed in float32. A
    batch without points leaves the running values as they are; a single point has variance 0.
    ``checkpoint`` calls the layer twice, so it updates the running values twice in each step.
    """

    def __call__(self, batch: Clouds) -> Clouds:
        """Takes clouds with features of shape (T, num_features), and returns them normalised.

        Raises:
            TypeError: If batch is no batch of point clouds.
            ValueError: If its features do not fit.
        """
        x = checked_features("PointBatchNorm", batch, self.num_features)
        count, dtype = x.shape[0], x.dtype
        if not count:
            return batch
        if dtype.size == 2:
            x = x.astype(mx.float32)
        own = self.training or not self.track_running_stats
        mean = mx.mean(x, axis=0) if own else self.running_mean
        # As few arrays of the features' size as possible.
        x = x - mean
        var = mx.mean(mx.square(x), axis=0) if own else self.running_var
        if self.training and self.track_running_stats:
            self._take_note(mean, var, max(count, 2))
        factor = mx.rsqrt(var + self.eps)
        y = x * (factor * self.weight) + self.bias if "weight" in self else x * factor
        return batch.replace(batch.positions, y.astype(dtype))


class PointMLP(nn.Module):
    """A linear layer, :class:`PointBatchNorm` and ReLU for each point.

    Args:
        in_channels: The number of input features of a point.
        out_channels: The number of output features of a point.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.linear = nn.Linear(in_channels, out_channels, bias=False)
        self.norm = PointBatchNorm(out_channels)

    def __call__(self, batch: Clouds) -> Clouds:
        """Takes clouds with features (T, in_channels); returns them with (T, out_channels)."""
        x = checked_features("PointMLP", batch, self.in_channels)
        return relu(self.norm(batch.replace(batch.positions, self.linear(x))))


class GlobalPool(nn.Module):
    """Reduces the features of each cloud.

    Args:
        operations: "max", "mean", "sum" or "min", or several, whose results are concatenated.

    Raises:
        ValueError: If there is another.
    """

    def __init__(self, operations: str | Sequence[str] = "max") -> None:
        super().__init__()
        chosen = (operations,) if isinstance(operations, str) else tuple(operations)
        if not chosen or any(operation not in POOLINGS for operation in chosen):
            refuse("GlobalPool", f"Invalid operations {operations!r}: choose of {POOLINGS}.")
        self._operations = " ".join(chosen)

    def _extra_repr(self) -> str:
        return self._operations

    def __call__(self, batch: Clouds) -> mx.array:
        """Takes clouds with features (T, C); returns an array (B, C * operations).

        Sums of 16-bit features are made in float32; an empty cloud gives zeros.

        Raises:
            TypeError: If batch is no batch of point clouds.
            ValueError: If it has no features.
        """
        check_batch("GlobalPool", "batch", batch)
        if batch.features is None:
            refuse("GlobalPool", "The batch must have features.")
        pooled = [batch.segment_reduce(batch.features, how) for how in self._operations.split()]
        return pooled[0] if len(pooled) == 1 else mx.concatenate(pooled, -1)


def relu(batch: Clouds) -> Clouds:
    """The batch with ReLU applied to its features."""
    return batch.replace(batch.positions, nn.relu(batch.features))
