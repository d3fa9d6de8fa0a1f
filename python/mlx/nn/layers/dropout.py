"""Layers that set some of their inputs to zero while they train."""

import mlx.core as mx
from mlx.nn.layers.base import Module


class _DropoutOf(Module):
    """The base of the layers here.

    Args:
        p: The probability, in [0, 1), with which an element becomes zero.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(
                f"[{type(self).__name__}] Argument p, the dropout probability, is {p}, which is"
                " not in [0, 1)."
            )
        self._p_1 = 1 - p

    def _extra_repr(self) -> str:
        return f"p={1 - self._p_1}"

    def _drop(self, x: mx.array, shape: tuple[int, ...]) -> mx.array:
        """``x`` times a mask of a shape that spreads to x's, and scaled to the same mean.

        The mask comes first: a number times it has type float32, and so had halves times that.
        """
        return mx.random.bernoulli(self._p_1, shape) * x * (1 / self._p_1)

    def _is_idle(self) -> bool:
        return self._p_1 == 1 or not self.training


class Dropout(_DropoutOf):
    """Sets elements to zero at random while the module trains.

    The others are divided by ``1 - p``, so that the mean stays. From Srivastava et al. (2014),
    *Dropout: a simple way to prevent neural networks from overfitting*.

    Args:
        p: The probability, in [0, 1), with which an element becomes zero.
    """

    def __call__(self, x: mx.array) -> mx.array:
        return x if self._is_idle() else self._drop(x, x.shape)


class Dropout2d(_DropoutOf):
    """Sets whole channels of pictures to zero at random while the module trains.

    Neighbouring pixels are alike, so that dropping single ones would take little away; see Tompson
    et al. (2015), *Efficient object localization using convolutional networks*. The inputs have
    shape (N, H, W, C) or (H, W, C).

    Args:
        p: The probability, in [0, 1), with which a channel becomes zero.
    """

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim not in (3, 4):
            raise ValueError(_wrong_dimensions("Dropout2d", x.ndim, "3 or 4"))
        return x if self._is_idle() else self._drop(x, _one_per_channel(x, 2))


class Dropout3d(_DropoutOf):
    """The same as :class:`Dropout2d` for volumes, of shape (N, D, H, W, C) or (D, H, W, C).

    Args:
        p: The probability, in [0, 1), with which a channel becomes zero.
    """

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim not in (4, 5):
            raise ValueError(_wrong_dimensions("Dropout3d", x.ndim, "4 or 5"))
        return x if self._is_idle() else self._drop(x, _one_per_channel(x, 3))


def _one_per_channel(x: mx.array, spatial: int) -> tuple[int, ...]:
    """The shape of a mask that has one element for each channel of each picture."""
    return (*x.shape[: -spatial - 1], *(1,) * spatial, x.shape[-1])


def _wrong_dimensions(layer: str, given: int, wanted: str) -> str:
    return f"[{layer}] Received input with {given} dimensions. Expected {wanted} dimensions."
