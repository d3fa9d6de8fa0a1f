"""Layers with quantised weights."""

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.utils import tree_map_with_path

# The default group size and number of bits of each mode.
_DEFAULTS = {"affine": (64, 4), "mxfp4": (32, 4), "nvfp4": (16, 4), "mxfp8": (32, 8)}


def settings_of_mode(mode: str, group_size: int | None, bits: int | None) -> tuple[int, int]:
    """The group size and the number of bits, with the mode's own where they are None.

    Raises:
        ValueError: If there is no such mode.
    """
    if mode not in _DEFAULTS:
        raise ValueError(
            f"[quantize] Argument mode must be one of {list(_DEFAULTS)}, but it is {mode!r}."
        )
    default_size, default_bits = _DEFAULTS[mode]
    return group_size or default_size, bits or default_bits


class Quantized(Module):
    """The base of layers with a quantised matrix: ``weight``, ``scales`` and perhaps ``biases``.

    Args:
        group_size: The number of weights that share a scale, see :func:`mlx.core.quantize`.
        bits: The number of bits of a weight.
        mode: The kind of quantisation.
    """

    def __init__(self, group_size: int | None, bits: int | None, mode: str) -> None:
        super().__init__()
        self.group_size, self.bits = settings_of_mode(mode, group_size, bits)
        self.mode = mode

    def _settings(self) -> dict[str, Any]:
        return {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}

    def _text_of_settings(self) -> str:
        return f"group_size={self.group_size}, bits={self.bits}, mode={self.mode}"

    def _set_weight(self, weight: mx.array) -> None:
        """Takes the quantised form of a matrix."""
        self.weight, self.scales, *biases = mx.quantize(weight, **self._settings())
        self.biases = biases[0] if biases else None

    def _columns(self) -> int:
        """The size of the matrix's last axis, before it was packed."""
        return self.weight.shape[-1] * 32 // self.bits

    def _product(self, x: mx.array) -> mx.array:
        """``x @ W.T``."""
        return mx.quantized_matmul(
            x,
            self["weight"],
            scales=self["scales"],
            biases=self.get("biases"),
            transpose=True,
            **self._settings(),
        )


class QuantizedEmbedding(Quantized):
    """The same as :class:`Embedding`, with a quantised table.

    The parameters are ``weight``, ``scales`` and, in affine mode, ``biases``, as
    :func:`mlx.core.quantize` makes them. They are frozen.

    Args:
        num_embeddings: The number of vectors.
        dims: Their size.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation.
    """

    def __init__(
        self,
        num_embeddings: int,
        dims: int,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> None:
        super().__init__(group_size, bits, mode)
        self._set_weight(mx.random.normal((num_embeddings, dims), scale=math.sqrt(1 / dims)))
        self.num_embeddings = num_embeddings
        self.dims = dims
        self.freeze()

    def _extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.dims}, {self._text_of_settings()}"

    def __call__(self, x: mx.array) -> mx.array:
        """The vectors with the indices ``x``, integers of any shape: (..., dims)."""
        biases = self.get("biases")
        return mx.dequantize(
            self["weight"][x],
            scales=self["scales"][x],
            biases=None if biases is None else biases[x],
            **self._settings(),
        )

    def as_linear(self, x: mx.array) -> mx.array:
        """Products of ``x``, of shape (..., dims), with all vectors: (..., num_embeddings)."""
        return self._product(x)

    @classmethod
    def from_embedding(
        cls,
        embedding_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> "QuantizedEmbedding":
        """A layer with the table of an :class:`Embedding`."""
        count, dims = embedding_layer.weight.shape
        layer = cls(count, dims, group_size, bits, mode)
        layer._set_weight(embedding_layer.weight)
        return layer


class QuantizedLinear(Quantized):
    """The same as :class:`Linear`, with a quantised matrix.

    The parameters are ``weight``, ``scales`` and, in affine mode, ``biases``, as
    :func:`mlx.core.quantize` makes them, and ``bias``. They are frozen.

    Args:
        input_dims: The size of the input's last axis.
        output_dims: The size of the output's.
        bias: Whether there is a ``bias``.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation.
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        bias: bool = True,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> None:
        super().__init__(group_size, bits, mode)
        scale = math.sqrt(1 / input_dims)
        self._set_weight(mx.random.uniform(-scale, scale, (output_dims, input_dims)))
        if bias:
            self.bias = mx.zeros((output_dims,))
        self.freeze()

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self._columns()}, output_dims={self.weight.shape[0]},"
            f" bias={'bias' in self}, {self._text_of_settings()}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = self._product(x)
        return y + self["bias"] if "bias" in self else y

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> "QuantizedLinear":
        """A layer with the weights of a :class:`Linear`; its ``bias`` is not frozen."""
        outputs, inputs = linear_layer.weight.shape
        layer = cls(inputs, outputs, False, group_size, bits, mode)
        layer._set_weight(linear_layer.weight)
        if "bias" in linear_layer:
            layer.bias = linear_layer.bias
        return layer


class QQLinear(Module):
    """A product with a matrix in which both the matrix and the inputs are quantised.

    While the layer trains, ``weight``, of shape (output_dims, input_dims), is not quantised, and
    each call quantises it. ``eval()`` quantises it for good, into ``weight`` and ``scales``, and
    ``train()`` goes back.

    Args:
        input_dims: The size of the input's last axis.
        output_dims: The size of the output's.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation: ``"nvfp4"`` or ``"mxfp8"``.
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "nvfp4",
    ) -> None:
        super().__init__()
        self.group_size, self.bits = settings_of_mode(mode, group_size, bits)
        self.mode = mode
        scale = math.sqrt(1 / input_dims)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, input_dims))
        self._quantized = False

    def _settings(self) -> dict[str, Any]:
        return {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}

    def _extra_repr(self) -> str:
        outputs, columns = self.weight.shape
        inputs = columns * 32 // self.bits if self._quantized else columns
        return (
            f"input_dims={inputs}, output_dims={outputs}, group_size={self.group_size},"
            f" bits={self.bits}, mode={self.mode}"
        )

    def quantize(self) -> None:
        """Replaces ``weight`` by its quantised form, unless it is already."""
        if not self._quantized:
            self.weight, self.scales = mx.quantize(self.weight, **self._settings())[:2]
            self._quantized = True

    def dequantize(self) -> None:
        """Replaces ``weight`` and ``scales`` by the matrix that they stand for."""
        if self._quantized:
            self.weight = mx.dequantize(self.weight, scales=self.scales, **self._settings())
            del self.scales
            self._quantized = False

    def _set_training_mode(self, mode: bool) -> None:
        super()._set_training_mode(mode)
        if mode:
            self.dequantize()
        else:
            self.quantize()

    def __call__(self, x: mx.array) -> mx.array:
        return mx.qqmm(x, self["weight"], scales=self.get("scales"), **self._settings())

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "nvfp4",
    ) -> "QQLinear":
        """A layer with the weights, and in the mode, of a :class:`Linear`.

        Raises:
            NotImplementedError: If that has a bias.
        """
        if "bias" in linear_layer:
            raise NotImplementedError("[QQLinear] A linear_layer with a bias is not supported.")
        outputs, inputs = linear_layer.weight.shape
        layer = cls(inputs, outputs, group_size, bits, mode)
        layer.weight = linear_layer.weight
        layer.train(linear_layer.training)
        return layer


def quantize(
    model: Module,
    group_size: int | None = None,
    bits: int | None = None,
    *,
    mode: str = "affine",
    quantize_input: bool = False,
    class_predicate: Callable[[str, Module], bool | dict[str, Any]] | None = None,
) -> None:
    """Replaces layers of a model by their quantised forms.

    Args:
        model: The model, which is changed. Its layers that have a method ``to_quantized`` can be
            replaced.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation, see :func:`mlx.core.quantize`.
        quantize_input: Whether layers quantise their inputs, too.
        class_predicate: Called with the path and the object of each leaf module. It says whether to
            replace it, or returns the arguments of ``to_quantized``. All that have that method if
            None.

    Raises:
        ValueError: If ``class_predicate`` returns something else or chooses a module without
            ``to_quantized``, or if a layer cannot be quantised so.
    """
    settings: dict[str, Any] = {"group_size": group_size, "bits": bits, "mode": mode}
    if quantize_input:
        settings["quantize_input"] = True

    def replaced(path: str, module: Module) -> Module:
        able = hasattr(module, "to_quantized")
        wanted = able if class_predicate is None else class_predicate(path, module)
        if not wanted:
            return module
        if not able:
            raise ValueError(
                f"[quantize] Argument class_predicate chose {path!r}, but a"
                f" {type(module).__name__} has no quantised form."
            )
        if not isinstance(wanted, bool | dict):
            raise ValueError(
                "[quantize] Argument class_predicate must return a bool or a dict of arguments of"
                f" to_quantized, but it returned {wanted!r}."
            )
        return module.to_quantized(**(wanted if isinstance(wanted, dict) else settings))

    leaves = tree_map_with_path(replaced, model.leaf_modules(), is_leaf=Module.is_module)
    model.update_modules(leaves)
