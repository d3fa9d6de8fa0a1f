"""Functions that make the initial values of parameters.

Each function here returns a function that takes an array and returns another one of the same shape;
the values of the array do not matter.
"""

import math
from collections.abc import Callable
from typing import Literal

import mlx.core as mx

Initializer = Callable[..., mx.array]


def constant(value: float, dtype: mx.Dtype = mx.float32) -> Callable[[mx.array], mx.array]:
    """Makes arrays full of one number.

    Args:
        value: The number.
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.full(a.shape, value, dtype=dtype)

    return initializer


def normal(
    mean: float = 0.0, std: float = 1.0, dtype: mx.Dtype = mx.float32
) -> Callable[[mx.array], mx.array]:
    """Makes arrays of normally distributed numbers.

    Args:
        mean: Their mean.
        std: Their standard deviation.
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)

    return initializer


def uniform(
    low: float = 0.0, high: float = 1.0, dtype: mx.Dtype = mx.float32
) -> Callable[[mx.array], mx.array]:
    """Makes arrays of uniformly distributed numbers.

    Args:
        low: The smallest number.
        high: The upper bound of the numbers, which is not reached.
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.random.uniform(low, high, a.shape, dtype=dtype)

    return initializer


def identity(dtype: mx.Dtype = mx.float32) -> Callable[[mx.array], mx.array]:
    """Makes matrices with ones in the diagonal and zeros elsewhere.

    The function that is returned raises ValueError unless its argument is a square matrix.

    Args:
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError(
                f"[identity] The array must be a square matrix but it has shape {a.shape}."
            )
        return mx.eye(a.shape[0], dtype=dtype)

    return initializer


def _fans(a: mx.array) -> tuple[int, int]:
    """The numbers of inputs per output and of outputs per input, for weights like those of
    linear layers and convolutions: (outputs, ..., inputs)."""
    if a.ndim < 2:
        raise ValueError(
            "[init] Glorot / He initialization requires an array with at least 2 dimensions but it"
            f" has {a.ndim}."
        )
    field = math.prod(a.shape[1:-1])
    return a.shape[-1] * field, a.shape[0] * field


def glorot_normal(dtype: mx.Dtype = mx.float32) -> Callable[..., mx.array]:
    """Makes arrays of normally distributed numbers, so that layers keep variances.

    The standard deviation is ``gain * sqrt(2 / (fan_in + fan_out))``, where ``gain``, 1 if it is not
    given, is the second argument of the function returned. From Glorot and Bengio (2010),
    *Understanding the difficulty of training deep feedforward neural networks*.

    Args:
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        std = gain * math.sqrt(2.0 / sum(_fans(a)))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)

    return initializer


def glorot_uniform(dtype: mx.Dtype = mx.float32) -> Callable[..., mx.array]:
    """Makes arrays of uniformly distributed numbers, so that layers keep variances.

    They lie between plus and minus ``gain * sqrt(6 / (fan_in + fan_out))``, where ``gain``, 1 if it is
    not given, is the second argument of the function returned. From the same paper as
    :func:`glorot_normal`.

    Args:
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        limit = gain * math.sqrt(6.0 / sum(_fans(a)))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)

    return initializer


def _fan(a: mx.array, mode: str) -> int:
    fans = dict(zip(("fan_in", "fan_out"), _fans(a), strict=True))
    if mode not in fans:
        raise ValueError(f"[init] Argument mode must be 'fan_in' or 'fan_out', but it is {mode!r}.")
    return fans[mode]


def he_normal(dtype: mx.Dtype = mx.float32) -> Callable[..., mx.array]:
    """Makes arrays of normally distributed numbers for layers before a :func:`relu`.

    The standard deviation is ``gain / sqrt(fan)``. The function returned takes ``mode``, ``"fan_in"`` or
    ``"fan_out"``, and ``gain``, 1 if it is not given, as further arguments. From He et al. (2015),
    *Delving deep into rectifiers*.

    Args:
        dtype: The type of the arrays.
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        std = gain / math.sqrt(_fan(a, mode))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)

    return initializer


def he_uniform(dtype: mx.Dtype = mx.float32) -> Callable[..., mx.array]:
    """Makes arrays of uniformly distributed numbers for layers before a :func:`relu`.

    They lie between plus and minus ``gain * sqrt(3 / fan)``. The function returned takes ``mode`` and
    ``gain`` like that of :func:`he_normal`.

    Args:
        dtype: The type of the arrays.
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        limit = gain * math.sqrt(3.0 / _fan(a, mode))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)

    return initializer


def sparse(
    sparsity: float, mean: float = 0.0, std: float = 1.0, dtype: mx.Dtype = mx.float32
) -> Callable[[mx.array], mx.array]:
    """Makes matrices of normally distributed numbers, some of which in each row are zero.

    From Martens (2010), *Deep learning via Hessian-free optimization*. The function that is returned
    raises ValueError unless its argument is a matrix.

    Args:
        sparsity: The fraction of a row that is zero, rounded up to whole numbers.
        mean: The mean of the others.
        std: Their standard deviation.
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2:
            raise ValueError(f"[sparse] The array must have 2 dimensions but it has {a.ndim}.")
        rows, columns = a.shape
        zeros = math.ceil(sparsity * columns)
        order = mx.argsort(mx.random.uniform(shape=a.shape), axis=1)
        values = mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)
        return mx.put_along_axis(values, order[:, :zeros], mx.array(0, dtype), axis=1)

    return initializer


def orthogonal(gain: float = 1.0, dtype: mx.Dtype = mx.float32) -> Callable[[mx.array], mx.array]:
    """Makes matrices whose rows are orthonormal, or whose columns are if there are more rows.

    From Saxe et al. (2014), *Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks*. The function that is returned raises ValueError unless its argument is a matrix.

    Args:
        gain: What the matrix is multiplied by.
        dtype: The type of the arrays.
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2:
            raise ValueError(f"[orthogonal] The array must have 2 dimensions but it has {a.ndim}.")
        rows, columns = a.shape
        size = max(rows, columns)
        q, r = mx.linalg.qr(mx.random.normal(shape=(size, size)), stream=mx.cpu)
        # With these signs all orthogonal matrices are equally likely; see Mezzadri (2007).
        q = q * mx.sign(mx.diag(r))
        return (gain * q[:rows, :columns]).astype(dtype)

    return initializer
