"""Layers that shift and scale their inputs to mean 0 and variance 1."""

from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module


class InstanceNorm(Module):
    """Normalises each channel of each example over the axes between the first and the last.

    ``y = (x - mean) / sqrt(var + eps) * weight + bias``, with ``weight`` and ``bias`` of shape
    (dims,) if ``affine``. From Ulyanov et al. (2016), *Instance normalization: the missing
    ingredient for fast stylization*.

    Args:
        dims: The number of channels.
        eps: Added to the variance.
        affine: Whether there are a ``weight`` and a ``bias``.
    """

    def __init__(self, dims: int, eps: float = 1e-5, affine: bool = False) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        """Takes and returns an array of shape (N, ..., dims) with at least three axes."""
        if x.ndim < 3:
            raise ValueError(
                "[InstanceNorm] Expected inputs with at least 3 dimensions, (N, ..., C), but the"
                f" input has {x.ndim}."
            )
        x = _standardised(x, tuple(range(1, x.ndim - 1)), self.eps)
        return self.weight * x + self.bias if "weight" in self else x


class LayerNorm(Module):
    """Normalises over the last axis.

    ``y = (x - mean) / sqrt(var + eps) * weight + bias``, with ``weight`` and ``bias`` of shape
    (dims,). From Ba et al. (2016), *Layer normalization*.

    Args:
        dims: The size of the last axis.
        eps: Added to the variance.
        affine: Whether there are a ``weight`` and a ``bias``.
        bias: Whether there is a ``bias``, if ``affine``.
    """

    def __init__(
        self, dims: int, eps: float = 1e-5, affine: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            if bias:
                self.bias = mx.zeros((dims,))
        self.eps = eps
        self.dims = dims

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.fast.layer_norm(x, self.get("weight"), self.get("bias"), self.eps)


class RMSNorm(Module):
    """Divides by the root mean square over the last axis.

    ``y = x / sqrt(mean(x^2) + eps) * weight``, with ``weight`` of shape (dims,). Sums are in single
    precision. From Zhang and Sennrich (2019), *Root mean square layer normalization*.

    Args:
        dims: The size of the last axis.
        eps: Added to the mean square.
    """

    def __init__(self, dims: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = mx.ones((dims,))
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.fast.rms_norm(x, self["weight"], self.eps)


class GroupNorm(Module):
    """Normalises each group of channels of each example, over positions and channels.

    From Wu and He (2018), *Group normalization*. ``weight`` and ``bias`` have shape (dims,).

    Args:
        num_groups: The number of groups.
        dims: The number of channels.
        eps: Added to the variance.
        affine: Whether there are a ``weight`` and a ``bias``.
        pytorch_compatible: Whether a group has neighbouring channels, as in PyTorch, rather than
            every ``num_groups``-th one.

    Raises:
        ValueError: If ``num_groups`` does not divide ``dims``.
    """

    def __init__(
        self,
        num_groups: int,
        dims: int,
        eps: float = 1e-5,
        affine: bool = True,
        pytorch_compatible: bool = False,
    ) -> None:
        super().__init__()
        if dims % num_groups != 0:
            raise ValueError(
                f"[GroupNorm] Argument dims, the number of features ({dims}), must be divisible by"
                f" num_groups ({num_groups})."
            )
        if affine:
            self.bias = mx.zeros((dims,))
            self.weight = mx.ones((dims,))
        self.num_groups = num_groups
        self.dims = dims
        self.eps = eps
        self.pytorch_compatible = pytorch_compatible

    def _extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.dims}, eps={self.eps}, affine={'weight' in self},"
            f" pytorch_compatible={self.pytorch_compatible}"
        )

    def _neighbours(self, x: mx.array) -> mx.array:
        """Normalised, where a group's channels are neighbours."""
        batch, *rest, dims = x.shape
        grouped = x.reshape(batch, -1, self.num_groups, dims // self.num_groups)
        rows = grouped.transpose(0, 2, 1, 3).reshape(batch, self.num_groups, -1)
        rows = mx.fast.layer_norm(rows, None, None, self.eps)
        rows = rows.reshape(batch, self.num_groups, -1, dims // self.num_groups)
        return rows.transpose(0, 2, 1, 3).reshape(batch, *rest, dims)

    def _interleaved(self, x: mx.array) -> mx.array:
        """Normalised, where a group has every `num_groups`-th channel."""
        rows = x.reshape(x.shape[0], -1, self.num_groups)
        return _standardised(rows, (1,), self.eps).reshape(x.shape)

    def __call__(self, x: mx.array) -> mx.array:
        """Takes and returns an array of shape (N, ..., dims)."""
        x = self._neighbours(x) if self.pytorch_compatible else self._interleaved(x)
        return self.weight * x + self.bias if "weight" in self else x


class BatchNorm(Module):
    """Normalises each channel over all examples and positions.

    While it trains, mean and variance are those of the batch, and ``running_mean`` and
    ``running_var`` follow them: ``(1 - momentum) * old + momentum * new``, with the unbiased
    variance. Otherwise these are used. They are parameters in files, but never trainable. From
    Ioffe and Szegedy (2015), *Batch normalization*.

    Args:
        num_features: The number of channels, the size of the last axis.
        eps: Added to the variance.
        momentum: How fast the running values follow.
        affine: Whether there are a ``weight`` and a ``bias``.
        track_running_stats: Whether there are running values; without them, those of the batch are
            always used.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = mx.ones((num_features,))
            self.bias = mx.zeros((num_features,))
        if track_running_stats:
            self.running_mean = mx.zeros((num_features,))
            self.running_var = mx.ones((num_features,))
            self._freeze_running_values()

    def _freeze_running_values(self) -> None:
        super().freeze(keys=["running_mean", "running_var"], recurse=False)

    def unfreeze(self, *args: Any, **kwargs: Any) -> "BatchNorm":
        """The same as :meth:`Module.unfreeze`, but the running values stay frozen.

        As in MLX, this is so where the layer itself is asked, not a module that it is part of.
        """
        super().unfreeze(*args, **kwargs)
        if self.track_running_stats:
            self._freeze_running_values()
        return self

    def _extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum},"
            f" affine={'weight' in self}, track_running_stats={self.track_running_stats}"
        )

    def _take_note(self, mean: mx.array, var: mx.array, count: int) -> None:
        """Moves the running values towards those of a batch with so many values a channel."""
        unbiased = var * (count / (count - 1))
        keep, take = 1 - self.momentum, self.momentum
        self.running_mean = keep * self.running_mean + take * mean
        self.running_var = keep * self.running_var + take * unbiased

    def __call__(self, x: mx.array) -> mx.array:
        """Takes and returns an array of shape (N, C), (N, L, C) or (N, H, W, C).

        Raises:
            ValueError: If it has another number of axes, or if the layer trains and has only one
                value for each channel.
        """
        if not 2 <= x.ndim <= 4:
            raise ValueError(
                f"[BatchNorm] Expected input with 2, 3 or 4 dimensions, but got {x.ndim}."
            )
        if self.training or not self.track_running_stats:
            axes = tuple(range(x.ndim - 1))
            mean, var = mx.mean(x, axis=axes), mx.var(x, axis=axes)
            count = x.size // x.shape[-1]
            if self.training and count == 1:
                raise ValueError("[BatchNorm] Training requires more than one value per channel.")
            if self.training and self.track_running_stats:
                self._take_note(mean, var, count)
        else:
            mean, var = self.running_mean, self.running_var
        x = (x - mean) * mx.rsqrt(var + self.eps)
        return self.weight * x + self.bias if "weight" in self else x


def _standardised(x: mx.array, axes: tuple[int, ...], eps: float) -> mx.array:
    """``x`` with mean 0 and variance 1 over some axes."""
    mean = mx.mean(x, axis=axes, keepdims=True)
    return (x - mean) * mx.rsqrt(mx.var(x, axis=axes, keepdims=True) + eps)
