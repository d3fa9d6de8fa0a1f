"""Transposed convolutions: what convolutions do to gradients, as layers that enlarge."""

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.nn.layers.convolution import IntOrTuple, initial_weight, to_tuple


class ConvTranspose1d(Module):
    """A transposed convolution over sequences of shape (N, L, in_channels).

    Each input adds a multiple of the filters to the output. ``weight`` has shape
    (out_channels, kernel_size, in_channels), ``bias`` (out_channels,).

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The length of the filters.
        stride: How far apart the outputs of neighbouring inputs are.
        padding: How much is cut off the output on both sides.
        dilation: The distance between the outputs that a filter adds to.
        output_padding: How much is added to the output on one side.
        bias: Whether there is a ``bias``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        output_padding: int = 0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = initial_weight(out_channels, (kernel_size,), in_channels)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = padding
        self.dilation = dilation
        self.stride = stride
        self.output_padding = output_padding

    def _extra_repr(self) -> str:
        outputs, kernel, inputs = self.weight.shape
        return (
            f"{inputs}, {outputs}, kernel_size={kernel}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation},"
            f" output_padding={self.output_padding}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.conv_transpose1d(
            x, self.weight, self.stride, self.padding, self.dilation, self.output_padding
        )
        return y + self.bias if "bias" in self else y


class ConvTranspose2d(Module):
    """A transposed convolution over pictures of shape (N, H, W, in_channels).

    Each input adds a multiple of the filters to the output. ``weight`` has shape
    ``(out_channels, *kernel_size, in_channels)``, ``bias`` (out_channels,). Sizes
    are one number, or one for each of the two axes.

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The size of the filters.
        stride: How far apart the outputs of neighbouring inputs are.
        padding: How much is cut off the output on both sides.
        dilation: The distance between the outputs that a filter adds to.
        output_padding: How much is added to the output on one side.
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
        output_padding: IntOrTuple = 0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = initial_weight(out_channels, to_tuple(kernel_size, 2), in_channels)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = to_tuple(padding, 2)
        self.stride = to_tuple(stride, 2)
        self.dilation = dilation
        self.output_padding = to_tuple(output_padding, 2)

    def _extra_repr(self) -> str:
        outputs, *kernel, inputs = self.weight.shape
        return (
            f"{inputs}, {outputs}, kernel_size={tuple(kernel)}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation},"
            f" output_padding={self.output_padding}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        dilation = to_tuple(self.dilation, 2)
        y = mx.conv_transpose2d(
            x, self.weight, self.stride, self.padding, dilation, self.output_padding
        )
        return y + self.bias if "bias" in self else y


class ConvTranspose3d(Module):
    """A transposed convolution over volumes of shape (N, D, H, W, in_channels).

    Each input adds a multiple of the filters to the output. ``weight`` has shape
    ``(out_channels, *kernel_size, in_channels)``, ``bias`` (out_channels,). Sizes
    are one number, or one for each of the three axes.

    Args:
        in_channels: The number of input channels.
        out_channels: The number of output channels.
        kernel_size: The size of the filters.
        stride: How far apart the outputs of neighbouring inputs are.
        padding: How much is cut off the output on both sides.
        dilation: The distance between the outputs that a filter adds to.
        output_padding: How much is added to the output on one side.
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
        output_padding: IntOrTuple = 0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = initial_weight(out_channels, to_tuple(kernel_size, 3), in_channels)
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = to_tuple(padding, 3)
        self.stride = to_tuple(stride, 3)
        self.dilation = dilation
        self.output_padding = to_tuple(output_padding, 3)

    def _extra_repr(self) -> str:
        outputs, *kernel, inputs = self.weight.shape
        return (
            f"{inputs}, {outputs}, kernel_size={tuple(kernel)}, stride={self.stride},"
            f" padding={self.padding}, dilation={self.dilation},"
            f" output_padding={self.output_padding}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        dilation = to_tuple(self.dilation, 3)
        y = mx.conv_transpose3d(
            x, self.weight, self.stride, self.padding, dilation, self.output_padding
        )
        return y + self.bias if "bias" in self else y
