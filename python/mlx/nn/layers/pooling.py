"""Layers that keep the largest value, or the mean, of each window."""

import itertools
import math
from collections.abc import Callable, Sequence

import mlx.core as mx
from mlx.nn.layers.base import Module

Size = int | Sequence[int]


class _Pool(Module):
    """The base of the layers here.

    Args:
        reduce: Takes an array and axes.
        padding_value: The value outside of the input.
        spatial: The number of axes that windows extend over.
        sizes: Kernel size, stride (None if that is the kernel size) and padding.
    """

    def __init__(
        self,
        reduce: Callable[..., mx.array],
        padding_value: float,
        spatial: int,
        sizes: tuple[Size, Size | None, Size],
    ) -> None:
        super().__init__()
        kernel, stride, padding = sizes
        self._pooling_function = reduce
        self._kernel_size = self._one_per_axis("kernel_size", kernel, spatial)
        self._stride = self._one_per_axis("stride", kernel if stride is None else stride, spatial)
        self._padding = self._one_per_axis("padding", padding, spatial)
        self._padding_value = padding_value
        self._axes = list(range(-spatial - 1, -1))

    def _one_per_axis(self, name: str, value: Size, count: int) -> tuple[int, ...]:
        if isinstance(value, int):
            return (value,) * count
        if isinstance(value, (tuple, list)) and len(value) == count:
            if all(isinstance(v, int) for v in value):
                return tuple(value)
        raise ValueError(
            f"[{type(self).__name__}] '{name}' must be an integer or a tuple containing {count}"
            f" integer{'s' if count > 1 else ''}, but it is {value!r}."
        )

    def _extra_repr(self) -> str:
        return f"kernel_size={self._kernel_size}, stride={self._stride}, padding={self._padding}"

    def __call__(self, x: mx.array) -> mx.array:
        """Takes an array of shape (N, ..., C) with as many axes between as windows have.

        Raises:
            ValueError: If it has another number of axes.
        """
        if x.ndim != len(self._kernel_size) + 2:
            raise ValueError(
                f"[{type(self).__name__}] Expected an input with {len(self._kernel_size) + 2}"
                f" dimensions, (N, ..., C), but it has {x.ndim}."
            )
        if any(self._padding):
            widths = [(0, 0), *((p, p) for p in self._padding), (0, 0)]
            x = mx.pad(x, widths, constant_values=self._outside(x))
        windows = _windows(x, self._kernel_size, self._stride, self.training)
        return self._pooling_function(windows, axis=tuple(self._axes))

    def _outside(self, x: mx.array) -> mx.array:
        if math.isinf(self._padding_value) and mx.issubdtype(x.dtype, mx.integer):
            return mx.array(mx.iinfo(x.dtype).min, x.dtype)
        return mx.array(self._padding_value, x.dtype)


def _windows(
    x: mx.array, kernel: tuple[int, ...], stride: tuple[int, ...], training: bool
) -> mx.array:
    """The windows of ``x``, of shape (N, *positions, *kernel, C)."""
    batch, *sizes, channels = x.shape
    counts = [max(0, (n - k) // s + 1) for n, k, s in zip(sizes, kernel, stride, strict=True)]
    if kernel == stride and all(n == c * k for n, c, k in zip(sizes, counts, kernel, strict=True)):
        return _tiles(x, counts, kernel)
    if math.prod(counts) == 0:
        return mx.zeros((batch, *counts, *kernel, channels), x.dtype)
    # A view is faster to make, but its gradient is much slower.
    return (_slices if training else _view)(x, counts, kernel, stride)


def _view(
    x: mx.array, counts: Sequence[int], kernel: tuple[int, ...], stride: tuple[int, ...]
) -> mx.array:
    """The windows as a view of the array."""
    first, *steps, last = _row_major_strides(x.shape)
    between = [step * s for step, s in zip(steps, stride, strict=True)]
    shape = (x.shape[0], *counts, *kernel, x.shape[-1])
    return mx.as_strided(x, shape, (first, *between, *steps, last))


def _slices(
    x: mx.array, counts: Sequence[int], kernel: tuple[int, ...], stride: tuple[int, ...]
) -> mx.array:
    """The windows from a slice for each of their elements."""
    parts = []
    for start in itertools.product(*(range(k) for k in kernel)):
        ends = [a + s * (c - 1) + 1 for a, s, c in zip(start, stride, counts, strict=True)]
        part = tuple(slice(a, e, s) for a, e, s in zip(start, ends, stride, strict=True))
        parts.append(x[(slice(None), *part)])
    stacked = mx.stack(parts, axis=-2)
    return stacked.reshape(x.shape[0], *counts, *kernel, x.shape[-1])


def _tiles(x: mx.array, counts: Sequence[int], kernel: tuple[int, ...]) -> mx.array:
    """Windows that do not overlap: a reshaped array, whose gradient is cheap."""
    spatial = len(kernel)
    pairs = [size for pair in zip(counts, kernel, strict=True) for size in pair]
    order = [*range(1, 2 * spatial, 2), *range(2, 2 * spatial + 1, 2)]
    split = x.reshape(x.shape[0], *pairs, x.shape[-1])
    return split.transpose(0, *order, 2 * spatial + 1)


def _row_major_strides(shape: tuple[int, ...]) -> list[int]:
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class MaxPool1d(_Pool):
    """The largest value of each window of sequences of shape (N, L, C).

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside is minus infinity.

    Raises:
        ValueError: If a size is neither a number nor 1 number in a tuple.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.max, -math.inf, 1, (kernel_size, stride, padding))


class AvgPool1d(_Pool):
    """The mean of each window of sequences of shape (N, L, C).

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside are zeros, which count in the mean.

    Raises:
        ValueError: If a size is neither a number nor 1 number in a tuple.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.mean, 0, 1, (kernel_size, stride, padding))


class MaxPool2d(_Pool):
    """The largest value of each window of pictures of shape (N, H, W, C). Sizes are one number, or one for each axis.

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside is minus infinity.

    Raises:
        ValueError: If a size is neither a number nor 2 numbers.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.max, -math.inf, 2, (kernel_size, stride, padding))


class AvgPool2d(_Pool):
    """The mean of each window of pictures of shape (N, H, W, C). Sizes are one number, or one for each axis.

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside are zeros, which count in the mean.

    Raises:
        ValueError: If a size is neither a number nor 2 numbers.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.mean, 0, 2, (kernel_size, stride, padding))


class MaxPool3d(_Pool):
    """The largest value of each window of volumes of shape (N, D, H, W, C). Sizes are one number, or one for each axis.

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside is minus infinity.

    Raises:
        ValueError: If a size is neither a number nor 3 numbers.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.max, -math.inf, 3, (kernel_size, stride, padding))


class AvgPool3d(_Pool):
    """The mean of each window of volumes of shape (N, D, H, W, C). Sizes are one number, or one for each axis.

    Args:
        kernel_size: The size of the windows.
        stride: How far a window is from the next; ``kernel_size`` if None.
        padding: How far windows may reach outside, on both sides. Outside are zeros, which count in the mean.

    Raises:
        ValueError: If a size is neither a number nor 3 numbers.
    """

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(mx.mean, 0, 3, (kernel_size, stride, padding))
