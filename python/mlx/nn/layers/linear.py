"""Products with a matrix of weights."""

import math
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.nn.layers.quantized import QQLinear, QuantizedLinear


class Identity(Module):
    """Returns its input, whatever the layer is made with.

    Args:
        args: Ignored.
        kwargs: Ignored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __call__(self, x: mx.array) -> mx.array:
        return x


class Linear(Module):
    """An affine map of the last axis: ``y = x @ W.T + b``.

    Both ``weight``, of shape (output_dims, input_dims), and ``bias``, of shape (output_dims,), start
    uniformly between ``-1 / sqrt(input_dims)`` and ``1 / sqrt(input_dims)``.

    Args:
        input_dims: The size of the input's last axis.
        output_dims: The size of the output's.
        bias: Whether there is a ``bias``.
    """

    def __init__(self, input_dims: int, output_dims: int, bias: bool = True) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input_dims)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, input_dims))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (output_dims,))

    def _extra_repr(self) -> str:
        outputs, inputs = self.weight.shape
        return f"input_dims={inputs}, output_dims={outputs}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if "bias" in self:
            return mx.addmm(self["bias"], x, self["weight"].T)
        return x @ self["weight"].T

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedLinear | QQLinear:
        """A layer with the same weights, quantised.

        Args:
            group_size: See :func:`mlx.core.quantize`.
            bits: Likewise.
            mode: Likewise.
            quantize_input: Whether the layer quantises its inputs, too: a :class:`QQLinear`.

        Raises:
            ValueError: If ``quantize_input`` and ``mode`` is not ``"nvfp4"`` or ``"mxfp8"``.
        """
        if not quantize_input:
            return QuantizedLinear.from_linear(self, group_size, bits, mode)
        if mode not in ("nvfp4", "mxfp8"):
            raise ValueError(
                "[to_quantized] Argument mode must be 'nvfp4' or 'mxfp8' where inputs are"
                f" quantised, but it is {mode!r}."
            )
        return QQLinear.from_linear(self, group_size, bits, mode)


class Bilinear(Module):
    """A bilinear map of two inputs: ``y[k] = sum over i, j of x1[i] * W[k, j, i] * x2[j] + b[k]``.

    Both ``weight``, of shape (output_dims, input2_dims, input1_dims), and ``bias``, of shape
    (output_dims,), start uniformly between ``-1 / sqrt(input1_dims)`` and ``1 / sqrt(input1_dims)``.

    Args:
        input1_dims: The size of the first input's last axis.
        input2_dims: The size of the second input's.
        output_dims: The size of the output's.
        bias: Whether there is a ``bias``.
    """

    def __init__(
        self, input1_dims: int, input2_dims: int, output_dims: int, bias: bool = True
    ) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input1_dims)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, input2_dims, input1_dims))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (output_dims,))

    def _extra_repr(self) -> str:
        outputs, inputs2, inputs1 = self.weight.shape
        return (
            f"input1_dims={inputs1}, input2_dims={inputs2}, output_dims={outputs},"
            f" bias={'bias' in self}"
        )

    def __call__(self, x1: mx.array, x2: mx.array) -> mx.array:
        # One large product with x1, then a small one with x2 for each row.
        outputs, inputs2, inputs1 = self.weight.shape
        rows = x1.reshape(-1, inputs1) @ self.weight.reshape(outputs * inputs2, inputs1).T
        rows = rows.reshape(-1, outputs, inputs2) @ x2.reshape(-1, inputs2, 1)
        y = rows.reshape(*x1.shape[:-1], outputs)
        return y + self.bias if "bias" in self else y
