"""The optimizers.

In their formulas, ``w`` is a parameter, ``g`` its gradient and ``lr`` the learning rate, which may be
a number or a function of the number of steps, such as those of :mod:`mlx.optimizers.schedulers`.
Their state has the type of the parameters.
"""

import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from mlx.nn.utils import scaled_to_norm
from mlx.optimizers._base import LearningRate, MultiOptimizer, Optimizer
from mlx.utils import tree_reduce

__all__ = [
    "SGD",
    "AdaDelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "MultiOptimizer",
    "Muon",
    "Optimizer",
    "RMSprop",
    "clip_grad_norm",
]

State = dict[str, Any]


def _require(condition: bool, what: str, rule: str, given: object) -> None:
    if not condition:
        raise ValueError(f"{what} should be {rule}, {given} was provided instead")


class SGD(Optimizer):
    """Stochastic gradient descent.

    ``g = g + weight_decay * w``, ``v = momentum * v + (1 - dampening) * g``, ``w = w - lr * v``; with
    ``nesterov``, ``w = w - lr * (g + momentum * v)``. From Sutskever et al. (2013), *On the importance
    of initialization and momentum in deep learning*.

    Args:
        learning_rate: The learning rate.
        momentum: The fraction of the last step that is kept.
        weight_decay: The factor of the parameters that are added to the gradients.
        dampening: The fraction of the gradient that is not used.
        nesterov: Whether to use Nesterov momentum.

    Raises:
        ValueError: If ``nesterov`` without ``momentum`` or with ``dampening``.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening.")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dampening = dampening
        self.nesterov = nesterov

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the velocity ``v``."""
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        rate = self.learning_rate.astype(gradient.dtype)
        if self.momentum <= 0:
            return parameter - rate * gradient
        v = self.momentum * state["v"] + (1 - self.dampening) * gradient
        state["v"] = v
        return parameter - rate * (gradient + self.momentum * v if self.nesterov else v)


class RMSprop(Optimizer):
    """``v = alpha * v + (1 - alpha) * g^2``, ``w = w - lr * g / (sqrt(v) + eps)``.

    From Tieleman and Hinton (2012), lecture 6.5 of *Neural networks for machine learning*.

    Args:
        learning_rate: The learning rate.
        alpha: How slowly the mean of squares changes.
        eps: Added to the denominator.

    Raises:
        ValueError: If ``alpha`` or ``eps`` is negative.
    """

    def __init__(self, learning_rate: LearningRate, alpha: float = 0.99, eps: float = 1e-8) -> None:
        super().__init__()
        _require(alpha >= 0, "RMSprop alpha", ">=0", alpha)
        _require(eps >= 0, "RMSprop epsilon", ">=0", eps)
        self._maybe_schedule("learning_rate", learning_rate)
        self.alpha = alpha
        self.eps = eps

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the mean of squares ``v``."""
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + self.eps)


class Adagrad(Optimizer):
    """``v = v + g^2``, ``w = w - lr * g / (sqrt(v) + eps)``.

    From Duchi et al. (2011), *Adaptive subgradient methods for online learning and stochastic
    optimization*.

    Args:
        learning_rate: The learning rate.
        eps: Added to the denominator.

    Raises:
        ValueError: If ``eps`` is negative.
    """

    def __init__(self, learning_rate: LearningRate, eps: float = 1e-8) -> None:
        super().__init__()
        _require(eps >= 0, "Adagrad epsilon", ">=0", eps)
        self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the sum of squares ``v``."""
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = state["v"] + mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + self.eps)


class AdaDelta(Optimizer):
    """``d = sqrt(u + eps) / sqrt(v + eps) * g``, ``w = w - lr * d``.

    Here ``v = rho * v + (1 - rho) * g^2`` is a mean of the squared gradients, and ``u``, which follows
    in the same way, one of the squared ``d``. From Zeiler (2012), *ADADELTA: an adaptive learning
    rate method*.

    Args:
        learning_rate: The learning rate.
        rho: How slowly the means change.
        eps: Added to the means.

    Raises:
        ValueError: If ``rho`` or ``eps`` is negative.
    """

    def __init__(self, learning_rate: LearningRate, rho: float = 0.9, eps: float = 1e-6) -> None:
        super().__init__()
        _require(rho >= 0, "AdaDelta rho", ">=0", rho)
        _require(eps >= 0, "AdaDelta epsilon", ">=0", eps)
        self._maybe_schedule("learning_rate", learning_rate)
        self.rho = rho
        self.eps = eps

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the means of squares, ``v`` and ``u``."""
        state["v"] = mx.zeros_like(parameter)
        state["u"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        u = state["u"]
        v = self.rho * state["v"] + (1 - self.rho) * mx.square(gradient)
        d = mx.sqrt(u + self.eps) / mx.sqrt(v + self.eps) * gradient
        state["v"] = v
        state["u"] = self.rho * u + (1 - self.rho) * mx.square(d)
        return parameter - rate * d


class Adam(Optimizer):
    """``m = b1 * m + (1 - b1) * g``, ``v = b2 * v + (1 - b2) * g^2``, ``w = w - lr * m / (sqrt(v) + eps)``.

    From Kingma and Ba (2015), *Adam: a method for stochastic optimization*. The paper divides ``m`` by
    ``1 - b1^t`` and ``v`` by ``1 - b2^t`` in step ``t``, as ``bias_correction`` does.

    Args:
        learning_rate: The learning rate.
        betas: The factors ``b1`` and ``b2``, in [0, 1).
        eps: Added to the denominator.
        bias_correction: Whether the means are corrected for their start at zero.

    Raises:
        ValueError: If ``betas`` or ``eps`` are out of range.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        bias_correction: bool = False,
    ) -> None:
        super().__init__()
        _require_betas(type(self).__name__, betas)
        _require(eps >= 0, f"{type(self).__name__} epsilon", ">=0", eps)
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.eps = eps
        self.bias_correction = bias_correction

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the means of gradients ``m`` and of their squares ``v``."""
        state["m"] = mx.zeros_like(parameter)
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = b2 * state["v"] + (1 - b2) * mx.square(gradient)
        state["m"], state["v"] = m, v
        if not self.bias_correction:
            return parameter - rate * m / (mx.sqrt(v) + self.eps)
        # The corrections use single precision: half precision would lose most digits of 1 - b2.
        step = self.step.astype(mx.float32)
        of_m = (self.learning_rate / (1 - b1**step)).astype(gradient.dtype)
        of_v = mx.rsqrt(1 - b2**step).astype(gradient.dtype)
        return parameter - of_m * m / (mx.sqrt(v) * of_v + self.eps)


def _require_betas(name: str, betas: Sequence[float]) -> None:
    for i, beta in enumerate(betas, 1):
        _require(0 <= beta < 1, f"{name} beta{i}", "in [0, 1)", beta)


class AdamW(Adam):
    """:class:`Adam` with ``w = w - lr * weight_decay * w`` before each step.

    From Loshchilov and Hutter (2019), *Decoupled weight decay regularization*.

    Args:
        learning_rate: The learning rate.
        betas: The factors of :class:`Adam`.
        eps: Added to the denominator.
        weight_decay: The factor of the decay.
        bias_correction: See :class:`Adam`.

    Raises:
        ValueError: If ``betas`` or ``eps`` are out of range.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        bias_correction: bool = False,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction)
        self.weight_decay = weight_decay

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        decayed = parameter * (1 - rate * self.weight_decay)
        return super().apply_single(gradient, decayed, state)


class Adamax(Adam):
    """:class:`Adam` with ``v = max(b2 * v, |g|)`` and ``w = w - lr * m / (v + eps)``.

    From the same paper, section 7.1.

    Args:
        learning_rate: The learning rate.
        betas: The factors ``b1`` and ``b2``, in [0, 1).
        eps: Added to the denominator.

    Raises:
        ValueError: If ``betas`` or ``eps`` are out of range.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate, betas, eps)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = mx.maximum(b2 * state["v"], mx.abs(gradient))
        state["m"], state["v"] = m, v
        return parameter - rate * m / (v + self.eps)


class Lion(Optimizer):
    """``w = w - lr * (sign(b1 * m + (1 - b1) * g) + weight_decay * w)``, then ``m = b2 * m + (1 - b2) * g``.

    From Chen et al. (2023), *Symbolic discovery of optimization algorithms*. Learning rates should be
    3 to 10 times smaller than those of :class:`Adam`.

    Args:
        learning_rate: The learning rate.
        betas: The factors ``b1`` and ``b2``, in [0, 1).
        weight_decay: The factor of the decay.

    Raises:
        ValueError: If ``betas`` are out of range.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__()
        _require_betas("Lion", betas)
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.weight_decay = weight_decay

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the mean of gradients ``m``."""
        state["m"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = state["m"]
        direction = mx.sign(b1 * m + (1 - b1) * gradient)
        state["m"] = b2 * m + (1 - b2) * gradient
        if self.weight_decay > 0:
            parameter = (1 - rate * self.weight_decay) * parameter
        return parameter - rate * direction


class Adafactor(Optimizer):
    """:class:`Adam` with a mean of squares that keeps only row and column means of each matrix.

    From Shazeer and Stern (2018), *Adafactor: adaptive learning rates with sublinear memory cost*.

    Args:
        learning_rate: The learning rate, if ``relative_step`` is False.
        eps: Two numbers: the first is added to squares of gradients, the second is the least root
            mean square of a parameter that a step is scaled by.
        clip_threshold: The largest root mean square of a step, before it is scaled.
        decay_rate: The mean of squares has the factor ``1 - t^decay_rate`` in step ``t``.
        beta_1: The factor of the mean of steps; there is none if None.
        weight_decay: The factor of the decay.
        scale_parameter: Whether steps are scaled by the root mean square of the parameter.
        relative_step: Whether the learning rate is ``1 / sqrt(t)``, but at most 0.01.
        warmup_init: Whether that maximum is ``1e-6 * t`` instead.
    """

    def __init__(
        self,
        learning_rate: LearningRate | None = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = -0.8,
        beta_1: float | None = None,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
    ) -> None:
        super().__init__()
        if learning_rate is not None:
            self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps
        self.clip_threshold = clip_threshold
        self.decay_rate = decay_rate
        self.beta_1 = beta_1
        self.weight_decay = weight_decay
        self.scale_parameter = scale_parameter
        self.relative_step = relative_step
        self.warmup_init = warmup_init

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the means of squares, by row and column for matrices, and of steps."""
        if parameter.ndim >= 2:
            *batch, rows, columns = parameter.shape
            state["exp_avg_sq_row"] = mx.zeros((*batch, rows), parameter.dtype)
            state["exp_avg_sq_col"] = mx.zeros((*batch, columns), parameter.dtype)
        else:
            state["exp_avg_sq"] = mx.zeros_like(parameter)
        if self.beta_1 is not None:
            state["exp_avg"] = mx.zeros_like(parameter)

    def _rate(self, parameter: mx.array) -> mx.array:
        if self.relative_step:
            step = self.step.astype(mx.float32)
            rate = mx.minimum(1e-6 * step if self.warmup_init else 1e-2, mx.rsqrt(step))
        else:
            rate = self.learning_rate
        rate = rate.astype(parameter.dtype)
        if self.scale_parameter:
            rate = rate * mx.maximum(self.eps[1], _root_mean_square(parameter))
        return rate

    def _scaled(self, gradient: mx.array, state: State) -> mx.array:
        """Updates the mean of squares and returns the gradient divided by its root."""
        step = self.step.astype(mx.float32)
        keep = (1 - step**self.decay_rate).astype(gradient.dtype)
        squares = mx.square(gradient) + self.eps[0]

        def follow(name: str, value: mx.array) -> mx.array:
            state[name] = keep * state[name] + (1 - keep) * value
            return state[name]

        if gradient.ndim < 2:
            return gradient * mx.rsqrt(follow("exp_avg_sq", squares))
        rows = follow("exp_avg_sq_row", mx.mean(squares, axis=-1))
        columns = follow("exp_avg_sq_col", mx.mean(squares, axis=-2))
        rows = rows / mx.mean(rows, axis=-1, keepdims=True)
        return gradient * mx.rsqrt(rows)[..., None] * mx.rsqrt(columns)[..., None, :]

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        rate = self._rate(parameter)
        change = self._scaled(gradient, state)
        change = change / mx.maximum(1.0, _root_mean_square(change) / self.clip_threshold)
        change = rate * change
        if self.beta_1 is not None:
            change = self.beta_1 * state["exp_avg"] + (1 - self.beta_1) * change
            state["exp_avg"] = change
        if self.weight_decay != 0:
            parameter = parameter - parameter * (self.weight_decay * rate)
        return parameter - change


def _root_mean_square(x: mx.array) -> mx.array:
    return mx.sqrt(mx.mean(mx.square(x)))


class Muon(Optimizer):
    """Takes nearly orthogonal steps for matrices.

    ``g = g + weight_decay * w``, ``v = momentum * v + (1 - momentum) * g``; the step is ``v``, or with
    ``nesterov`` ``momentum * v + (1 - momentum) * g``. That of a matrix, with all axes but the first
    taken as one, is replaced by a nearly orthogonal one, times the root of the number of rows by
    that of columns, if that is above 1. From Jordan et al. (2024), *Muon: an optimizer for hidden
    layers in neural networks*.

    Args:
        learning_rate: The learning rate.
        momentum: The fraction of the last step that is kept.
        weight_decay: The factor of the parameters that are added to the gradients.
        nesterov: Whether to use Nesterov momentum.
        ns_steps: The number of iterations of Newton and Schulz that make steps orthogonal.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
        nesterov: bool = True,
        ns_steps: int = 5,
    ) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.ns_steps = ns_steps

    def init_single(self, parameter: mx.array, state: State) -> None:
        """Starts the velocity ``v``."""
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: State) -> mx.array:
        """The new value of a parameter."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        v = self.momentum * state["v"] + (1 - self.momentum) * gradient
        state["v"] = v
        step = self.momentum * v + (1 - self.momentum) * gradient if self.nesterov else v
        rate = self.learning_rate.astype(gradient.dtype)
        if step.ndim >= 2:
            matrix = step.reshape(step.shape[0], -1)
            rows, columns = matrix.shape
            step = _nearly_orthogonal(matrix, self.ns_steps).reshape(step.shape)
            rate = rate * math.sqrt(max(1.0, rows / columns))
        return parameter - rate * step


def _nearly_orthogonal(x: mx.array, steps: int) -> mx.array:
    """A matrix with the same singular vectors and singular values near 1.

    Each iteration applies the odd polynomial ``a s + b s^3 + c s^5`` of the paper to them.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / (mx.linalg.norm(x) + 1e-7)
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.T if is_tall else x


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, mx.array]:
    """Scales gradients so that the norm of all of them is bounded.

    From Pascanu et al. (2013), *On the difficulty of training recurrent neural networks*.

    Args:
        grads: A tree of arrays.
        max_norm: The largest norm.

    Returns:
        The scaled tree, and the norm before, in single precision.
    """
    squares = tree_reduce(
        lambda total, g: total + g.astype(mx.float32).square().sum(), grads, mx.array(0.0)
    )
    norm = mx.sqrt(squares)
    return scaled_to_norm(grads, norm, max_norm), norm
