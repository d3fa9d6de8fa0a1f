"""Convolutions over sequences, pictures and volumes."""

import math
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module

IntOrTuple = int | tuple[int, ...] | list[int]


def to_tuple(value: IntOrTuple, count: int) -> tuple[Any, ...]:
    """One number for each spatial axis."""
    return (value,) * count if isinstance(value, int) else tuple(value)


def initial_weight(outputs: int, kernel: tuple[int, ...], inputs: int) -> mx.array:
    """Filters of shape (outputs, *kernel, inputs), uniform between plus and minus ``1 / sqrt`` of
    the number of values that each multiplies."""
    scale = math.sqrt(1 / (inputs * math.prod(kernel)))
    return mx.random.uniform(-scale, scale, (outputs, *kernel, inputs))


def check_groups(layer: str, in_channels: int, groups: int) -> None:
    """Raises ValueError unless the input's channels can be divided into the groups."""
    if in_channels % groups != 0:
        raise ValueError(
            f"[{layer}] Argument in_channels, the number of input channels ({in_channels}), must be"
            f" divisible by groups ({groups})."
        )


class Conv1d(Module):
    """A convolution over sequences of shape (N, L, in_channels).

    ``weight`` has shape (out_channels, kernel_size, in_channels / groups), ``bias`` (out_channels,).

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The length of the filters.
        stride: How far the filters move from one output to the next.
        padding: The number of zeros added on both sides.
        dilation: The distance between the inputs that a filter multiplies.
        groups: The number of groups of channels, convolved separately.
        bias: Whether there is a ``bias``.

    Raises:
        ValueError: If ``groups`` does not divide ``in_channels``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_groups("Conv1d", in_channels, groups)
        self.weight = initial_weight(out_channels, (kernel_size,), in_channels // groups)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = padding
        self.dilation = dilation
        self.stride = stride
        self.groups = groups

    def _extra_repr(self) -> str:
        outputs, kernel, inputs = self.weight.shape
        return (
            f"{inputs * self.groups}, {outputs}, kernel_size={kernel}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation}, groups={self.groups},"
            f" bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.conv1d(x, self.weight, self.stride, self.padding, self.dilation, self.groups)
        return y + self.bias if "bias" in self else y


class Conv2d(Module):
    """A convolution over pictures of shape (N, H, W, in_channels).

    ``weight`` has shape ``(out_channels, *kernel_size, in_channels / groups)``, ``bias``
    (out_channels,). Sizes are one number, or one for each of the two axes.

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The size of the filters.
        stride: How far the filters move from one output to the next.
        padding: The number of zeros added on both sides.
        dilation: The distance between the inputs that a filter multiplies.
        groups: The number of groups of channels, convolved separately.
        bias: Whether there is a ``bias``.

    Raises:
        ValueError: If ``groups`` does not divide ``in_channels``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrTuple,
        stride: IntOrTuple = 1,
        padding: IntOrTuple = 0,
        dilation: IntOrTuple = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_groups("Conv2d", in_channels, groups)
        kernel = to_tuple(kernel_size, 2)
        self.weight = initial_weight(out_channels, kernel, in_channels // groups)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = to_tuple(padding, 2)
        self.stride = to_tuple(stride, 2)
        self.dilation = dilation
        self.groups = groups

    def _extra_repr(self) -> str:
        outputs, *kernel, inputs = self.weight.shape
        return (
            f"{inputs * self.groups}, {outputs}, kernel_size={tuple(kernel)}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation}, groups={self.groups},"
            f" bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        dilation = to_tuple(self.dilation, 2)
        y = mx.conv2d(x, self.weight, self.stride, self.padding, dilation, self.groups)
        return y + self.bias if "bias" in self else y


class Conv3d(Module):
    """A convolution over volumes of shape (N, D, H, W, in_channels).

    ``weight`` has shape ``(out_channels, *kernel_size, in_channels)``, ``bias`` (out_channels,). Sizes
    are one number, or one for each of the three axes.

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The size of the filters.
        stride: How far the filters move from one output to the next.
        padding: The number of zeros added on both sides.
        dilation: The distance between the inputs that a filter multiplies.
        bias: Whether there is a ``bias``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrTuple,
        stride: IntOrTuple = 1,
        padding: IntOrTuple = 0,
        dilation: IntOrTuple = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = initial_weight(out_channels, to_tuple(kernel_size, 3), in_channels)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = to_tuple(padding, 3)
        self.stride = to_tuple(stride, 3)
        self.dilation = dilation

    def _extra_repr(self) -> str:
        outputs, *kernel, inputs = self.weight.shape
        return (
            f"{inputs}, {outputs}, kernel_size={tuple(kernel)}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        dilation = to_tuple(self.dilation, 3)
        y = mx.conv3d(x, self.weight, self.stride, self.padding, dilation)
        return y + self.bias if "bias" in self else y
