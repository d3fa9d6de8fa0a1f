"""Layers, losses and optimizers in NumPy, in double precision."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erf

Array = np.ndarray


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def elu(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "sigmoid": sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "log_softmax": lambda x: np.log(softmax(x)),
    "elu": elu,
    "softmax": softmax,
    "softplus": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "softshrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "celu": elu,
    "silu": lambda x: x * sigmoid(x),
    "log_sigmoid": lambda x: -np.logaddexp(-x, 0),
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "gelu_approx": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "gelu_fast_approx": lambda x: x * sigmoid(1.702 * x),
    "glu": lambda x: x[..., : x.shape[-1] // 2] * sigmoid(x[..., x.shape[-1] // 2 :]),
    "step": lambda x: (x >= 0).astype(np.float64),
    "selu": lambda x: 1.0507 * elu(x, 1.67326),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_shrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softmin": lambda x: softmax(-x),
    "tanh": np.tanh,
}


def windows(x: Array, kernel: list[int], stride: list[int], padding: list[int], fill: float):
    """All windows of (N, ..., C): an array (N, *positions, *kernel, C)."""
    count = len(kernel)
    x = np.pad(x, [(0, 0), *((p, p) for p in padding), (0, 0)], constant_values=fill)
    axes = tuple(range(1, count + 1))
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axes)
    view = view[(slice(None), *(slice(None, None, s) for s in stride))]
    return np.moveaxis(view, count + 1, -1)


def convolution(x: Array, weight: Array, stride: list[int], padding: list[int]) -> Array:
    """Without groups and dilation, by the definition."""
    count = weight.ndim - 2
    view = windows(x, list(weight.shape[1:-1]), stride, padding, 0.0)
    axes = list(range(count + 1, 2 * count + 2))
    return np.tensordot(view, weight, (axes, list(range(1, count + 2))))


def attention(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return softmax(scores if mask is None else scores + mask) @ v


# ---- optimizers: a step of each, with its state in `s` ----

Step = Callable[[Array, Array, dict[str, Any], int], Array]


def follow(s: dict[str, Any], name: str, beta: float, value: Array) -> Array:
    s[name] = beta * s.get(name, 0.0) + (1 - beta) * value
    return s[name]


def sgd(momentum=0.0, decay=0.0, dampening=0.0, nesterov=False, rate=0.05) -> Step:
    def step(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
        g = g + decay * w
        if momentum == 0:
            return w - rate * g
        s["v"] = momentum * s.get("v", 0.0) + (1 - dampening) * g
        return w - rate * (g + momentum * s["v"] if nesterov else s["v"])

    return step


def rmsprop(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
    return w - 0.05 * g / (np.sqrt(follow(s, "v", 0.9, g * g)) + 1e-8)


def adagrad(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
    s["v"] = s.get("v", 0.0) + g * g
    return w - 0.05 * g / (np.sqrt(s["v"]) + 1e-8)


def adadelta(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
    v = follow(s, "v", 0.9, g * g)
    d = np.sqrt(s.get("u", 0.0) + 1e-6) / np.sqrt(v + 1e-6) * g
    follow(s, "u", 0.9, d * d)
    return w - 0.05 * d


def adam(corrected: bool = False, decay: float = 0.0) -> Step:
    def step(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
        m, v = follow(s, "m", 0.9, g), follow(s, "v", 0.999, g * g)
        w = w - 0.05 * decay * w
        if corrected:
            m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return w - 0.05 * m / (np.sqrt(v) + 1e-8)

    return step


def adamax(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
    m = follow(s, "m", 0.9, g)
    s["v"] = np.maximum(0.999 * s.get("v", 0.0), abs(g))
    return w - 0.05 * m / (s["v"] + 1e-8)


def lion(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
    direction = np.sign(0.9 * s.get("m", 0.0) + 0.1 * g)
    follow(s, "m", 0.99, g)
    return w - 0.05 * (direction + 0.1 * w)


def adafactor(rate: float | None = None, beta: float | None = None, decay: float = 0.0) -> Step:
    def step(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
        own = min(1e-2, 1 / np.sqrt(t)) if rate is None else rate
        own = own * max(1e-3, np.sqrt((w * w).mean()))
        keep, squares = 1 - t**-0.8, g * g + 1e-30
        if w.ndim > 1:
            rows = follow(s, "rows", keep, squares.mean(-1))
            columns = follow(s, "columns", keep, squares.mean(-2))
            rows = rows / rows.mean(-1, keepdims=True)
            mean = rows[..., None] * columns[..., None, :]
        else:
            mean = follow(s, "v", keep, squares)
        u = g / np.sqrt(mean)
        u = own * u / max(1.0, np.sqrt((u * u).mean()))
        u = u if beta is None else follow(s, "m", beta, u)
        return w - own * decay * w - u

    return step


def nearly_orthogonal(x: Array, steps: int) -> Array:
    x = x / np.linalg.norm(x)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    for _ in range(steps):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return (u * s) @ vt


def muon(nesterov: bool = True, steps: int = 5) -> Step:
    def step(w: Array, g: Array, s: dict[str, Any], t: int) -> Array:
        g = g + 0.01 * w
        v = follow(s, "v", 0.95, g)
        u = 0.95 * v + 0.05 * g if nesterov else v
        if w.ndim == 1:
            return w - 0.05 * u
        matrix = u.reshape(len(u), -1)
        scale = np.sqrt(max(1.0, matrix.shape[0] / matrix.shape[1]))
        return w - 0.05 * scale * nearly_orthogonal(matrix, steps).reshape(u.shape)

    return step
