"""Encodings of the positions of inputs, for attention."""

import math

import mlx.core as mx
from mlx.nn.layers.base import Module


class RoPE(Module):
    """Rotates pairs of features by angles that grow with the position.

    From Su et al. (2021), *RoFormer: enhanced transformer with rotary position embedding*.
    Features after the first ``dims`` stay as they are.

    Args:
        dims: The number of features to rotate.
        traditional: Whether a pair are neighbours, as in the paper, rather than features that are
            ``dims / 2`` apart.
        base: The angle of pair i is the position times ``base ** (-2 * i / dims)``.
        scale: Positions are multiplied by it.
    """

    def __init__(
        self, dims: int, traditional: bool = False, base: float = 10000, scale: float = 1.0
    ) -> None:
        super().__init__()
        self.dims = dims
        self.traditional = traditional
        self.base = base
        self.scale = scale

    def _extra_repr(self) -> str:
        return f"{self.dims}, traditional={self.traditional}"

    def __call__(self, x: mx.array, offset: int | mx.array = 0) -> mx.array:
        """Takes and returns an array of shape (..., positions, features).

        ``offset`` is the position of the first.
        """
        return mx.fast.rope(
            x,
            self.dims,
            traditional=self.traditional,
            base=self.base,
            scale=self.scale,
            offset=offset,
        )


class SinusoidalPositionalEncoding(Module):
    """Sines and cosines of numbers at several frequencies.

    From Vaswani et al. (2017), *Attention is all you need*.

    Args:
        dims: The number of features: even.
        min_freq: The lowest frequency.
        max_freq: The highest one; those between form a geometric sequence.
        scale: What the result is multiplied by; ``sqrt(2 / dims)`` if None.
        cos_first: Whether the cosines come before the sines.
        full_turns: Whether frequencies count turns, rather than radians.

    Raises:
        ValueError: If ``dims`` is not positive and even.
    """

    def __init__(
        self,
        dims: int,
        min_freq: float = 0.0001,
        max_freq: float = 1,
        scale: float | None = None,
        cos_first: bool = False,
        full_turns: bool = False,
    ) -> None:
        super().__init__()
        if dims <= 0 or dims % 2 != 0:
            raise ValueError(
                "[SinusoidalPositionalEncoding] Argument dims must be positive and even but it is"
                f" {dims}."
            )
        count = dims // 2
        # The fraction of the way from the highest to the lowest, on a logarithmic scale.
        fraction = mx.arange(count) / max(count - 1, 1)
        lowest, highest = math.log(min_freq), math.log(max_freq)
        self._sigmas = mx.exp(highest + fraction * (lowest - highest))
        if full_turns:
            self._sigmas = self._sigmas * (2 * math.pi)
        self.scale = math.sqrt(2 / dims) if scale is None else scale
        self.cos_first = cos_first

    def __call__(self, x: mx.array) -> mx.array:
        """The features of ``x``, of any shape: (..., dims)."""
        angles = x[..., None] * self._sigmas
        parts = [mx.sin(angles), mx.cos(angles)]
        y = mx.concatenate(parts[::-1] if self.cos_first else parts, axis=-1)
        return y * self.scale if self.scale != 1 else y


class ALiBi(Module):
    """Lowers the scores of attention in proportion to the distance.

    From Press et al. (2022), *Train short, test long: attention with linear biases enables input
    length extrapolation*.
    """

    @staticmethod
    def create_alibi_matrix(
        q_sequence_length: int,
        k_sequence_length: int,
        num_heads: int,
        offset: int = 0,
        dtype: mx.Dtype = mx.float32,
    ) -> mx.array:
        """The biases to add to scores, of shape (1, num_heads, queries, keys).

        Args:
            q_sequence_length: The position after the last query.
            k_sequence_length: The number of keys.
            num_heads: The number of heads.
            offset: The position of the first query.
            dtype: The type of the result.
        """
        queries = mx.arange(offset, q_sequence_length)
        distance = mx.abs(queries[:, None] - mx.arange(k_sequence_length))
        slopes = ALiBi.create_alibi_slope(num_heads)
        return (-distance[None, None] * slopes).astype(dtype)

    @staticmethod
    def create_alibi_slope(num_heads: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The slope of each head, of shape (num_heads, 1, 1).

        For a power of two these are ``2 ** (-8 * i / num_heads)``, i from 1. For other numbers the
        slopes of the next lower power of two are followed by every other one of the power above.
        """
        lower = 2 ** int(math.log2(num_heads))
        slopes = _geometric_slopes(lower) + _geometric_slopes(2 * lower)[::2]
        return mx.array(slopes[:num_heads], dtype)[:, None, None]

    def __call__(
        self, attention_scores: mx.array, offset: int = 0, mask: mx.array | None = None
    ) -> mx.array:
        """Adds the biases, and a mask if there is one.

        Args:
            attention_scores: The scores, of shape (N, heads, queries, keys).
            offset: The position of the first query.
            mask: Broadcast to the scores and added.
        """
        heads, queries, keys = attention_scores.shape[-3:]
        bias = self.create_alibi_matrix(
            queries + offset, keys, heads, offset, attention_scores.dtype
        )
        return attention_scores + (bias if mask is None else bias + mask)


def _geometric_slopes(count: int) -> list[float]:
    return [2 ** (-8 * (i + 1) / count) for i in range(count)]
