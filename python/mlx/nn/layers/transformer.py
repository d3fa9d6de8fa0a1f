"""Attention, and the Transformer of Vaswani et al. (2017), *Attention is all you need*."""

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx.nn.layers.activations import relu
from mlx.nn.layers.base import Module
from mlx.nn.layers.dropout import Dropout
from mlx.nn.layers.linear import Linear
from mlx.nn.layers.normalization import LayerNorm
from mlx.nn.utils import checkpoint as checkpointed

Activation = Callable[[Any], Any]


class MultiHeadAttention(Module):
    """Attention with several heads, between linear layers.

    Each head has ``dims / num_heads`` features of the queries and keys. The linear layers are
    ``query_proj``, ``key_proj``, ``value_proj`` and ``out_proj``.

    Args:
        dims: The number of features of all heads together.
        num_heads: The number of heads.
        query_input_dims: The number of features of the queries; ``dims`` if None.
        key_input_dims: That of the keys; ``dims`` if None.
        value_input_dims: That of the values; that of the keys if None.
        value_dims: The number of features of all heads' values together; ``dims`` if None.
        value_output_dims: The number of features of the result; ``dims`` if None.
        bias: Whether the linear layers have biases.

    Raises:
        ValueError: If ``num_heads`` does not divide ``dims``.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        query_input_dims: int | None = None,
        key_input_dims: int | None = None,
        value_input_dims: int | None = None,
        value_dims: int | None = None,
        value_output_dims: int | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        if dims % num_heads != 0:
            raise ValueError(
                f"[MultiHeadAttention] Argument dims ({dims}) must be divisible by num_heads"
                f" ({num_heads})."
            )
        query_input_dims = query_input_dims or dims
        key_input_dims = key_input_dims or dims
        value_input_dims = value_input_dims or key_input_dims
        value_dims = value_dims or dims
        value_output_dims = value_output_dims or dims
        self.num_heads = num_heads
        self.query_proj = Linear(query_input_dims, dims, bias=bias)
        self.key_proj = Linear(key_input_dims, dims, bias=bias)
        self.value_proj = Linear(value_input_dims, value_dims, bias=bias)
        self.out_proj = Linear(value_dims, value_output_dims, bias=bias)

    def _heads(self, x: mx.array) -> mx.array:
        """From (N, L, heads * features) to (N, heads, L, features)."""
        return x.reshape(*x.shape[:-1], self.num_heads, -1).swapaxes(-2, -3)

    def __call__(
        self, queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array | None = None
    ) -> mx.array:
        """The result, of shape (N, L, value_output_dims).

        Args:
            queries: Of shape (N, L, query_input_dims).
            keys: Of shape (N, S, key_input_dims).
            values: Of shape (N, S, value_input_dims).
            mask: Added to the scores, to whose shape (N, heads, L, S) it is broadcast, or if
                boolean, False where the score is minus infinity.
        """
        q = self._heads(self.query_proj(queries))
        k = self._heads(self.key_proj(keys))
        v = self._heads(self.value_proj(values))
        scale = math.sqrt(1 / q.shape[-1])
        result = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
        return self.out_proj(result.swapaxes(-2, -3).flatten(-2, -1))

    @staticmethod
    def create_additive_causal_mask(N: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """A mask of shape (N, N) that hides later positions from each position.

        It is 0 up to the diagonal and the most negative number of the type above.
        """
        positions = mx.arange(N)
        later = positions[:, None] < positions[None]
        return mx.where(later, mx.array(mx.finfo(dtype).min, dtype), mx.array(0, dtype))


class TransformerEncoderLayer(Module):
    """A layer of the encoder: attention, then two linear layers, each added to its input.

    Args:
        dims: The number of features.
        num_heads: The number of heads.
        mlp_dims: The number of features between the linear layers; ``4 * dims`` if None.
        dropout: The probability of :class:`Dropout`.
        activation: The function between the linear layers.
        norm_first: Whether inputs, rather than sums, are normalised.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Activation = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def _attend(self, x: mx.array, mask: mx.array | None) -> mx.array:
        return self.dropout1(self.attention(x, x, x, mask))

    def _feed_forward(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout2(self.activation(self.linear1(x))))

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Takes and returns an array of shape (N, L, dims)."""
        if self.norm_first:
            x = x + self._attend(self.ln1(x), mask)
            return x + self._feed_forward(self.ln2(x))
        x = self.ln1(x + self._attend(x, mask))
        return self.ln2(x + self._feed_forward(x))


class TransformerEncoder(Module):
    """Layers of the encoder, in the list ``layers``, and a normalisation at the end, ``ln``.

    Args:
        num_layers: The number of layers.
        dims: The number of features.
        num_heads: The number of heads.
        mlp_dims: See :class:`TransformerEncoderLayer`.
        dropout: Likewise.
        activation: Likewise.
        norm_first: Likewise.
        checkpoint: Whether gradients recompute the values inside of a layer, rather than
            keeping them.
    """

    def __init__(
        self,
        num_layers: int,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Activation = relu,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        self.layers = [
            TransformerEncoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)
        ]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Takes and returns an array of shape (N, L, dims)."""
        for layer in self.layers:
            x = (checkpointed(layer) if self.checkpoint else layer)(x, mask)
        return self.ln(x)


class TransformerDecoderLayer(Module):
    """A layer of the decoder: attention to itself, to the memory, then two linear layers.

    Args:
        dims: The number of features.
        num_heads: The number of heads.
        mlp_dims: The number of features between the linear layers; ``4 * dims`` if None.
        dropout: The probability of :class:`Dropout`.
        activation: The function between the linear layers.
        norm_first: Whether inputs, rather than sums, are normalised.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Activation = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.self_attention = MultiHeadAttention(dims, num_heads)
        self.cross_attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.ln3 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def _attend(self, x: mx.array, mask: mx.array | None) -> mx.array:
        return self.dropout1(self.self_attention(x, x, x, mask))

    def _remember(self, x: mx.array, memory: mx.array, mask: mx.array | None) -> mx.array:
        return self.dropout2(self.cross_attention(x, memory, memory, mask))

    def _feed_forward(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout3(self.activation(self.linear1(x))))

    def __call__(
        self,
        x: mx.array,
        memory: mx.array,
        x_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        """Takes and returns an array of shape (N, L, dims); the memory is (N, S, dims)."""
        if self.norm_first:
            x = x + self._attend(self.ln1(x), x_mask)
            x = x + self._remember(self.ln2(x), memory, memory_mask)
            return x + self._feed_forward(self.ln3(x))
        x = self.ln1(x + self._attend(x, x_mask))
        x = self.ln2(x + self._remember(x, memory, memory_mask))
        return self.ln3(x + self._feed_forward(x))


class TransformerDecoder(Module):
    """Layers of the decoder, in the list ``layers``, and a normalisation at the end, ``ln``.

    Args:
        num_layers: The number of layers.
        dims: The number of features.
        num_heads: The number of heads.
        mlp_dims: See :class:`TransformerDecoderLayer`.
        dropout: Likewise.
        activation: Likewise.
        norm_first: Likewise.
        checkpoint: Whether gradients recompute the values inside of a layer, rather than
            keeping them.
    """

    def __init__(
        self,
        num_layers: int,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Activation = relu,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        self.layers = [
            TransformerDecoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)
        ]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(
        self,
        x: mx.array,
        memory: mx.array,
        x_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        """Takes and returns an array of shape (N, L, dims); the memory is (N, S, dims)."""
        for layer in self.layers:
            call = checkpointed(layer) if self.checkpoint else layer
            x = call(x, memory, x_mask, memory_mask)
        return self.ln(x)


class Transformer(Module):
    """An encoder and a decoder that attends to its result.

    Args:
        dims: The number of features.
        num_heads: The number of heads.
        num_encoder_layers: The number of layers of the encoder.
        num_decoder_layers: The number of layers of the decoder.
        mlp_dims: See :class:`TransformerEncoderLayer`.
        dropout: Likewise.
        activation: Likewise.
        custom_encoder: A module in the place of the encoder.
        custom_decoder: A module in the place of the decoder.
        norm_first: See :class:`TransformerEncoderLayer`.
        checkpoint: See :class:`TransformerEncoder`.
    """

    def __init__(
        self,
        dims: int = 512,
        num_heads: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Activation = relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        rest = (dims, num_heads, mlp_dims, dropout, activation, norm_first, checkpoint)
        # An empty module is false, so this compares with None.
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(num_encoder_layers, *rest)
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(num_decoder_layers, *rest)
        self.encoder = custom_encoder
        self.decoder = custom_decoder

    def __call__(
        self,
        src: mx.array,
        tgt: mx.array,
        src_mask: mx.array | None,
        tgt_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        """The decoder's result, of shape (N, L, dims).

        Args:
            src: The encoder's input, of shape (N, S, dims).
            tgt: The decoder's input, of shape (N, L, dims).
            src_mask: The encoder's mask, see :class:`MultiHeadAttention`.
            tgt_mask: The mask of the decoder's attention to itself.
            memory_mask: The mask of its attention to the encoder's result.
        """
        return self.decoder(tgt, self.encoder(src, src_mask), tgt_mask, memory_mask)
