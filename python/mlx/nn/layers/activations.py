"""Activation functions, and layers that apply them.

All functions work elementwise on arrays of any shape, except those that take an axis. Each layer
does what the function of the same name does.
"""

import math
from collections.abc import Callable
from functools import partial

import mlx.core as mx
from mlx.nn.layers.base import Module

# Compiled functions are not recorded again for other shapes.
_compiled = partial(mx.compile, shapeless=True)

# ---- functions ----


@_compiled
def sigmoid(x: mx.array) -> mx.array:
    """``1 / (1 + exp(-x))``."""
    return mx.sigmoid(x)


@_compiled
def relu(x: mx.array) -> mx.array:
    """``max(x, 0)``."""
    return mx.maximum(x, 0)


@_compiled
def relu2(x: mx.array) -> mx.array:
    """``max(x, 0)^2``, of So et al. (2021), *Primer: searching for efficient transformers*."""
    return mx.square(mx.maximum(x, 0))


@_compiled
def relu6(x: mx.array) -> mx.array:
    """``min(max(x, 0), 6)``, of Krizhevsky (2010), *Convolutional deep belief networks on CIFAR-10*."""
    return mx.minimum(mx.maximum(x, 0), 6.0)


@_compiled
def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
    """``x`` where it is positive, ``negative_slope * x`` elsewhere; the slope is below 1."""
    return mx.maximum(negative_slope * x, x)


@_compiled
def log_softmax(x: mx.array, axis: int = -1) -> mx.array:
    """``x - log(sum(exp(x)))``, sums along ``axis``."""
    return x - mx.logsumexp(x, axis=axis, keepdims=True)


@_compiled
def elu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere; Clevert et al. (2016)."""
    # What exp gets keeps the branch that is not selected, and its derivative, finite. A minimum
    # would do so, too, but has derivative 0 at 0, where that of elu is alpha.
    return mx.where(x > 0, x, alpha * (mx.exp(mx.where(x > 0, 0, x)) - 1))


@_compiled
def softmax(x: mx.array, axis: int = -1) -> mx.array:
    """``exp(x) / sum(exp(x))``, sums along ``axis``."""
    return mx.softmax(x, axis=axis)


@_compiled
def softplus(x: mx.array) -> mx.array:
    """``log(1 + exp(x))``."""
    return mx.logaddexp(x, 0)


@_compiled
def softsign(x: mx.array) -> mx.array:
    """``x / (1 + |x|)``."""
    return x / (1 + mx.abs(x))


@_compiled
def softshrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """``x`` moved towards zero by ``lambd``; zero where ``|x|`` is at most ``lambd``."""
    return mx.where(mx.abs(x) > lambd, x - mx.sign(x) * lambd, 0)


@_compiled
def celu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """``max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)``; Barron (2017)."""
    return mx.maximum(x, 0.0) + alpha * (mx.exp(mx.minimum(x, 0.0) / alpha) - 1)


@_compiled
def silu(x: mx.array) -> mx.array:
    """``x * sigmoid(x)``, also called swish; Hendrycks and Gimpel (2016)."""
    return x * mx.sigmoid(x)


@_compiled
def log_sigmoid(x: mx.array) -> mx.array:
    """``log(sigmoid(x))``."""
    return -softplus(-x)


@_compiled
def gelu(x: mx.array) -> mx.array:
    """``x`` times the normal distribution function of ``x``; Hendrycks and Gimpel (2016)."""
    return x * (1 + mx.erf(x / math.sqrt(2))) / 2


@_compiled
def gelu_approx(x: mx.array) -> mx.array:
    """:func:`gelu` to about 0.0005, by a hyperbolic tangent of a cubic, as in the same paper."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + mx.tanh(inner))


@_compiled
def gelu_fast_approx(x: mx.array) -> mx.array:
    """:func:`gelu` to about 0.02, as ``x * sigmoid(1.702 * x)``, from the same paper."""
    return x * mx.sigmoid(1.702 * x)


def glu(x: mx.array, axis: int = -1) -> mx.array:
    """The first half of ``x`` along ``axis``, times the sigmoid of the second; Dauphin et al. (2017)."""
    value, gate = mx.split(x, 2, axis=axis)
    return value * mx.sigmoid(gate)


@_compiled
def step(x: mx.array, threshold: float = 0.0) -> mx.array:
    """1 where ``x`` is ``threshold`` or more, 0 elsewhere."""
    return mx.where(x >= threshold, 1, 0)


@_compiled
def selu(x: mx.array) -> mx.array:
    """``1.0507 * elu(x, 1.67326)``, which keeps mean 0 and variance 1; Klambauer et al. (2017)."""
    return elu(x, 1.67326) * 1.0507


@_compiled
def prelu(x: mx.array, alpha: mx.array) -> mx.array:
    """``x`` where it is positive, ``alpha * x`` elsewhere, ``alpha`` broadcast; He et al. (2015)."""
    return mx.maximum(0, x) + alpha * mx.minimum(0, x)


@_compiled
def mish(x: mx.array) -> mx.array:
    """``x * tanh(softplus(x))``; Misra (2019)."""
    return x * mx.tanh(softplus(x))


@_compiled
def hardswish(x: mx.array) -> mx.array:
    """``x * min(max(x + 3, 0), 6) / 6``; Howard et al. (2019)."""
    return x * mx.minimum(mx.maximum(x + 3, 0), 6) / 6


@_compiled
def hard_tanh(x: mx.array, min_val: float = -1.0, max_val: float = 1.0) -> mx.array:
    """``x`` between ``min_val`` and ``max_val``, else the nearer of them."""
    return mx.minimum(mx.maximum(x, min_val), max_val)


@_compiled
def hard_shrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """``x`` where its absolute value is above ``lambd``, 0 elsewhere."""
    return mx.where(mx.abs(x) > lambd, x, 0)


@_compiled
def softmin(x: mx.array, axis: int = -1) -> mx.array:
    """``softmax(-x)``, sums along ``axis``."""
    return mx.softmax(-x, axis=axis)


def tanh(x: mx.array) -> mx.array:
    """The hyperbolic tangent."""
    return mx.tanh(x)


# ---- layers without arguments ----


class Sigmoid(Module):
    """Applies :func:`sigmoid`."""

    def __call__(self, x: mx.array) -> mx.array:
        return sigmoid(x)


class Mish(Module):
    """Applies :func:`mish`."""

    def __call__(self, x: mx.array) -> mx.array:
        return mish(x)


class ReLU(Module):
    """Applies :func:`relu`."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu(x)


class ReLU2(Module):
    """Applies :func:`relu2`."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu2(x)


class ReLU6(Module):
    """Applies :func:`relu6`."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu6(x)


class Softmax(Module):
    """Applies :func:`softmax` along the last axis."""

    def __call__(self, x: mx.array) -> mx.array:
        return softmax(x)


class Softplus(Module):
    """Applies :func:`softplus`."""

    def __call__(self, x: mx.array) -> mx.array:
        return softplus(x)


class Softsign(Module):
    """Applies :func:`softsign`."""

    def __call__(self, x: mx.array) -> mx.array:
        return softsign(x)


class SiLU(Module):
    """Applies :func:`silu`."""

    def __call__(self, x: mx.array) -> mx.array:
        return silu(x)


class LogSoftmax(Module):
    """Applies :func:`log_softmax` along the last axis."""

    def __call__(self, x: mx.array) -> mx.array:
        return log_softmax(x)


class LogSigmoid(Module):
    """Applies :func:`log_sigmoid`."""

    def __call__(self, x: mx.array) -> mx.array:
        return log_sigmoid(x)


class Tanh(Module):
    """Applies :func:`tanh`."""

    def __call__(self, x: mx.array) -> mx.array:
        return tanh(x)


class Hardswish(Module):
    """Applies :func:`hardswish`."""

    def __call__(self, x: mx.array) -> mx.array:
        return hardswish(x)


class SELU(Module):
    """Applies :func:`selu`."""

    def __call__(self, x: mx.array) -> mx.array:
        return selu(x)


class HardTanh(Module):
    """Applies :func:`hard_tanh` between -1 and 1."""

    def __call__(self, x: mx.array) -> mx.array:
        return hard_tanh(x)


class Softmin(Module):
    """Applies :func:`softmin` along the last axis."""

    def __call__(self, x: mx.array) -> mx.array:
        return softmin(x)


# ---- layers with arguments ----


class GLU(Module):
    """Applies :func:`glu`.

    Args:
        axis: The axis to split, of even size.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: mx.array) -> mx.array:
        return glu(x, axis=self.axis)


class LeakyReLU(Module):
    """Applies :func:`leaky_relu`.

    Args:
        negative_slope: The slope below zero.
    """

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def __call__(self, x: mx.array) -> mx.array:
        return leaky_relu(x, self._negative_slope)


class ELU(Module):
    """Applies :func:`elu`.

    Args:
        alpha: Minus the limit at minus infinity.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return elu(x, self._alpha)


class CELU(Module):
    """Applies :func:`celu`.

    Args:
        alpha: Minus the limit at minus infinity.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return celu(x, self._alpha)


class Softshrink(Module):
    """Applies :func:`softshrink`.

    Args:
        lambd: How far values move towards zero.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return softshrink(x, self.lambd)


class HardShrink(Module):
    """Applies :func:`hard_shrink`.

    Args:
        lambd: The largest absolute value that becomes zero.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return hard_shrink(x, self.lambd)


class Step(Module):
    """Applies :func:`step`.

    Args:
        threshold: The smallest value that becomes 1.
    """

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def __call__(self, x: mx.array) -> mx.array:
        return step(x, self.threshold)


class PReLU(Module):
    """Applies :func:`prelu` with slopes that are learnt, ``weight`` of shape (num_parameters,).

    Args:
        num_parameters: The number of slopes: 1, or the size of the input's last axis.
        init: What they start with.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.weight = mx.full([num_parameters], init)

    def __call__(self, x: mx.array) -> mx.array:
        return prelu(x, self.weight)


class GELU(Module):
    """Applies :func:`gelu`, or an approximation of it.

    Args:
        approx: ``"none"`` for :func:`gelu`, ``"precise"`` or ``"tanh"`` for :func:`gelu_approx`,
            ``"fast"`` for :func:`gelu_fast_approx`.

    Raises:
        ValueError: If ``approx`` is something else.
    """

    def __init__(self, approx: str = "none") -> None:
        super().__init__()
        self._approx = approx
        if approx not in _GELU:
            raise ValueError(
                f"[GELU] Argument approx should be in {list(_GELU)} but {approx!r} was given."
            )

    def __call__(self, x: mx.array) -> mx.array:
        return _GELU[self._approx](x)


_GELU: dict[str, Callable[[mx.array], mx.array]] = {
    "none": gelu,
    "precise": gelu_approx,
    "tanh": gelu_approx,
    "fast": gelu_fast_approx,
}
