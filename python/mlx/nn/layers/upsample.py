"""Resizing of sequences, pictures and volumes, axis by axis."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import mlx.core as mx
from mlx.nn.layers.base import Module

# The indices of the inputs that each output is made of, (outputs, taps), and their weights.
Taps = tuple[mx.array, mx.array]


def upsample_nearest(x: mx.array, scale_factor: Sequence[float]) -> mx.array:
    """Resizes by taking the nearest value.

    Args:
        x: The input, of shape (N, ..., C).
        scale_factor: A factor for each axis between the first and the last.

    Returns:
        An array of shape (N, ..., C) and the same type; sizes are rounded down.
    """
    _check("upsample_nearest", x, scale_factor)
    if all(scale == int(scale) and scale >= 1 for scale in scale_factor):
        for axis, scale in enumerate(scale_factor, 1):
            x = mx.repeat(x, int(scale), axis=axis)
        return x
    for axis, scale in enumerate(scale_factor, 1):
        size = x.shape[axis]
        x = mx.take(x, _nearest(size, int(scale * size)), axis=axis)
    return x


def upsample_linear(
    x: mx.array,
    scale_factor: Sequence[float],
    align_corners: bool = False,
    antialias: bool = False,
) -> mx.array:
    """Resizes by linear interpolation along each axis.

    Args:
        x: The input, of shape (N, ..., C).
        scale_factor: A factor for each axis between the first and the last.
        align_corners: Whether first and last values stay at the ends, rather than the outer edges.
        antialias: Whether, for smaller results, each output is a mean over all inputs that it
            stands for, as in Pillow.

    Returns:
        An array of shape (N, ..., C), float32 or what x's type and float32 promote to.
    """
    _check("upsample_linear", x, scale_factor)
    return _interpolated(x, scale_factor, align_corners, _triangle, 1, antialias)


def upsample_cubic(
    x: mx.array,
    scale_factor: Sequence[float],
    align_corners: bool = False,
    antialias: bool = False,
) -> mx.array:
    """Resizes by cubic convolution along each axis.

    From Keys (1981), *Cubic convolution interpolation for digital image processing*, with parameter
    -0.75, or -0.5 with ``antialias``.

    Args:
        x: The input, of shape (N, ..., C).
        scale_factor: A factor for each axis between the first and the last.
        align_corners: Whether first and last values stay at the ends, rather than the outer edges.
        antialias: Whether, for smaller results, each output is a mean over all inputs that it
            stands for, as in Pillow.

    Returns:
        An array of shape (N, ..., C), float32 or what x's type and float32 promote to.
    """
    _check("upsample_cubic", x, scale_factor)
    kernel = _keys(-0.5 if antialias else -0.75)
    return _interpolated(x, scale_factor, align_corners, kernel, 2, antialias)


class Upsample(Module):
    """Resizes sequences, pictures or volumes of shape (N, ..., C).

    Args:
        scale_factor: One factor, or one for each axis between the first and the last.
        mode: ``"nearest"``, ``"linear"`` or ``"cubic"``: see :func:`upsample_nearest`,
            :func:`upsample_linear` and :func:`upsample_cubic`.
        align_corners: Whether first and last values stay at the ends, rather than the outer edges.
        antialias: Whether, for smaller results, each output is a mean over all inputs that it
            stands for.

    Raises:
        ValueError: If there is no such mode, or ``antialias`` does not go with the other arguments.
    """

    def __init__(
        self,
        scale_factor: float | tuple[float, ...],
        mode: Literal["nearest", "linear", "cubic"] = "nearest",
        align_corners: bool = False,
        antialias: bool = False,
    ) -> None:
        super().__init__()
        if mode not in ("nearest", "linear", "cubic"):
            raise ValueError(
                "[Upsample] Argument mode must be 'nearest', 'linear' or 'cubic', but it is"
                f" {mode!r}: an unsupported upsampling algorithm."
            )
        if antialias and mode == "nearest":
            raise ValueError("[Upsample] antialias=True is not supported for mode 'nearest'.")
        if antialias and align_corners:
            raise ValueError("[Upsample] antialias=True with align_corners=True is not supported.")
        if isinstance(scale_factor, (list, tuple)):
            self.scale_factor: float | tuple[float, ...] = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor)
        self.mode = mode
        self.align_corners = align_corners
        self.antialias = antialias

    def _extra_repr(self) -> str:
        return (
            f"scale_factor={self.scale_factor}, mode={self.mode!r},"
            f" align_corners={self.align_corners}" + (", antialias=True" if self.antialias else "")
        )

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 3:
            raise ValueError(
                "[Upsample] The input should have at least 1 spatial dimension, between the first"
                f" and the last, but it has {x.ndim} dimensions."
            )
        scales = self.scale_factor
        if not isinstance(scales, tuple):
            scales = (scales,) * (x.ndim - 2)
        if len(scales) != x.ndim - 2:
            raise ValueError(
                "[Upsample] One scale per spatial dimension is required but"
                f" scale_factor={scales} and the number of spatial dimensions is {x.ndim - 2}."
            )
        if self.mode == "nearest":
            return upsample_nearest(x, scales)
        resize = upsample_linear if self.mode == "linear" else upsample_cubic
        return resize(x, scales, self.align_corners, self.antialias)


def _check(name: str, x: mx.array, scale_factor: Sequence[float]) -> None:
    if len(scale_factor) != x.ndim - 2:
        raise ValueError(
            f"[{name}] Argument scale_factor must have one number for each of the {x.ndim - 2} axes"
            f" between the first and the last, but it has {len(scale_factor)}."
        )


def _nearest(size: int, count: int) -> mx.array:
    """The input that each output is taken from.

    Larger results take the one nearest to the centre of the output, of two equally near ones the even
    one; smaller results take the one at the start of the output.
    """
    output = mx.arange(count)
    if count <= size:
        return output * size // max(count, 1)
    # The numerator and the denominator are integers, so that halfway positions are exact.
    return mx.round(((2 * output + 1) * size - count) / (2 * count)).astype(mx.int32)


# ---- kernels of interpolation: from distances to weights ----


def _triangle(distance: mx.array) -> mx.array:
    return mx.maximum(1 - mx.abs(distance), 0)


def _keys(a: float) -> Callable[[mx.array], mx.array]:
    """The cubic kernel of Keys with a parameter."""

    def kernel(distance: mx.array) -> mx.array:
        d = mx.abs(distance)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = (((d - 5) * d + 8) * d - 4) * a
        return mx.where(d <= 1, near, mx.where(d < 2, far, 0))

    return kernel


# ---- interpolation ----


def _interpolated(
    x: mx.array,
    scales: Sequence[float],
    align_corners: bool,
    kernel: Callable[[mx.array], mx.array],
    support: int,
    antialias: bool,
) -> mx.array:
    for axis, scale in enumerate(scales, 1):
        size = x.shape[axis]
        centres = _centres(size, scale, align_corners)
        if antialias:
            taps = _wide_taps(size, scale, centres, kernel, support)
        else:
            taps = _taps(size, centres, kernel, support)
        x = _weighted(x, axis, taps)
    return x


def _centres(size: int, scale: float, align_corners: bool) -> mx.array:
    """Where the outputs lie among the inputs."""
    count = int(scale * size)
    if align_corners:
        return mx.arange(count) * ((size - 1) / max(count - 1, 1))
    return (mx.arange(count) - (count - 1) / 2) / scale + (size - 1) / 2


def _taps(
    size: int, centres: mx.array, kernel: Callable[[mx.array], mx.array], support: int
) -> Taps:
    """The neighbours of each output; those beyond the ends are the values at the ends."""
    first = mx.floor(centres) - (support - 1)
    indices = first[:, None] + mx.arange(2 * support)
    weights = kernel(indices - centres[:, None])
    return mx.clip(indices, 0, max(size - 1, 0)).astype(mx.int32), weights


def _wide_taps(
    size: int,
    scale: float,
    centres: mx.array,
    kernel: Callable[[mx.array], mx.array],
    support: int,
) -> Taps:
    """All inputs that an output stands for; there are none beyond the ends."""
    narrow = min(scale, 1.0)
    reach = support / narrow
    first = mx.ceil(centres - reach)
    indices = first[:, None] + mx.arange(2 * math.ceil(reach) + 1)
    inside = (indices >= 0) & (indices < size)
    weights = kernel((indices - centres[:, None]) * narrow) * inside
    weights = weights / weights.sum(axis=1, keepdims=True)
    return mx.clip(indices, 0, max(size - 1, 0)).astype(mx.int32), weights


def _weighted(x: mx.array, axis: int, taps: Taps) -> mx.array:
    """Sums of the inputs along an axis, each with its weight."""
    indices, weights = taps
    along = (-1,) + (1,) * (x.ndim - 1 - axis)
    parts = [
        mx.take(x, indices[:, tap], axis=axis) * weights[:, tap].reshape(along)
        for tap in range(indices.shape[1])
    ]
    return sum(parts[1:], parts[0])
