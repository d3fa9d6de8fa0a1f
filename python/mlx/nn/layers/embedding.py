"""Tables of vectors, looked up by index."""

import math

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.nn.layers.quantized import QuantizedEmbedding


class Embedding(Module):
    """A table of vectors.

    The table, ``weight`` of shape (num_embeddings, dims), starts normally distributed with standard
    deviation ``1 / sqrt(dims)``.

    Args:
        num_embeddings: The number of vectors.
        dims: Their size.
    """

    def __init__(self, num_embeddings: int, dims: int) -> None:
        super().__init__()
        self.weight = mx.random.normal((num_embeddings, dims), scale=math.sqrt(1 / dims))

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}"

    def __call__(self, x: mx.array) -> mx.array:
        """The vectors with the indices ``x``, integers of any shape: (..., dims)."""
        return self["weight"][x]

    def as_linear(self, x: mx.array) -> mx.array:
        """Products of ``x``, of shape (..., dims), with all vectors: (..., num_embeddings).

        Models use it to share the table between their first layer and their last.
        """
        return x @ self["weight"].T

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedEmbedding:
        """A layer with the same table, quantised.

        Args:
            group_size: See :func:`mlx.core.quantize`.
            bits: Likewise.
            mode: Likewise.
            quantize_input: Must be False: the inputs of this layer are integers.

        Raises:
            ValueError: If ``quantize_input``.
        """
        if quantize_input:
            raise ValueError(
                "[to_quantized] Argument quantize_input must be False for an Embedding, whose"
                " inputs are integers."
            )
        return QuantizedEmbedding.from_embedding(self, group_size, bits, mode)
