"""Gradients of all layers and losses against differences, in double precision where possible."""

from collections.abc import Callable, Iterator

import mlx.core as mx
import mlx.nn as nn
import nn_cases
import numpy as np
import pytest
from mlx.nn import losses
from mlx.utils import tree_flatten, tree_unflatten

# These support single precision only, or have no derivative.
SINGLE = ("LayerNorm", "RMSNorm", "GroupNorm of PyTorch", "RoPE", "MultiHeadAttention", "Conv")
WITHOUT = ("Quantized", "Step", "Identity")
LAYERS = [name for name in nn_cases.LAYERS if not name.startswith(WITHOUT)]


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    """Only the CPU supports double precision."""
    before = mx.default_device()
    mx.set_default_device(mx.cpu)
    yield
    mx.set_default_device(before)


def difference(f: Callable[[mx.array], mx.array], x: mx.array, step: float) -> np.ndarray:
    """The gradient of a function by central differences."""
    start = np.array(x, np.float64)
    result = np.zeros_like(start)
    for index in np.ndindex(*start.shape):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[index] += sign * step
            values.append(f(mx.array(moved, dtype=x.dtype)).item())
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


def weighted(result: object) -> mx.array:
    """A sum with a weight for each element, different for all."""
    leaves = [x for _, x in tree_flatten(result)]
    return sum(
        (x * mx.cos(mx.arange(x.size, dtype=mx.float32).astype(x.dtype).reshape(x.shape))).sum()
        for x in leaves
    )


def check(f: Callable[[mx.array], mx.array], x: mx.array, is_double: bool, what: str) -> None:
    step, tolerance = (1e-6, 1e-5) if is_double else (1e-2, 3e-2)
    wanted = difference(f, x, step)
    found = np.array(mx.grad(f)(x), np.float64)
    scale = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=what)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str):
    make, shapes = nn_cases.LAYERS[name]
    is_double = not name.startswith(SINGLE)
    dtype = mx.float64 if is_double else mx.float32
    mx.random.seed(1)
    layer = make()
    layer.set_dtype(dtype)
    inputs = [nn_cases.normal(*shape, key=i).astype(dtype) for i, shape in enumerate(shapes)]

    def of_input(x: mx.array) -> mx.array:
        return weighted(layer(x, *inputs[1:]))

    check(of_input, inputs[0], is_double, "input")
    for path, parameter in tree_flatten(layer.trainable_parameters()):

        def of_parameter(value: mx.array, path: str = path) -> mx.array:
            layer.update(tree_unflatten([(path, value)]))
            return weighted(layer(*inputs))

        check(of_parameter, parameter, is_double, path)
        layer.update(tree_unflatten([(path, parameter)]))


def double(*shape: int, key: int = 0) -> mx.array:
    return nn_cases.normal(*shape, key=key).astype(mx.float64, stream=mx.cpu)


Y, Z = double(3, 4, key=1), double(3, 4, key=2)
CLASSES = mx.array([0, 3, 1])
LOSSES: dict[str, Callable[[mx.array], mx.array]] = {
    "cross_entropy": lambda x: losses.cross_entropy(x, CLASSES),
    "cross_entropy, smooth": lambda x: losses.cross_entropy(x, CLASSES, label_smoothing=0.2),
    "cross_entropy of chances": lambda x: losses.cross_entropy(x, nn.softmax(Y)),
    "binary_cross_entropy": lambda x: losses.binary_cross_entropy(
        x, mx.sigmoid(Y), reduction="none"
    ),
    "binary_cross_entropy of chances": lambda x: losses.binary_cross_entropy(
        mx.sigmoid(x), mx.sigmoid(Y), with_logits=False, reduction="none"
    ),
    "l1_loss": lambda x: losses.l1_loss(x, Y, "none"),
    "mse_loss": lambda x: losses.mse_loss(x, Y, "none"),
    "nll_loss": lambda x: losses.nll_loss(x, CLASSES),
    "gaussian_nll_loss": lambda x: losses.gaussian_nll_loss(Y, Z, mx.exp(x), reduction="none"),
    "kl_div_loss": lambda x: losses.kl_div_loss(Y, x),
    "smooth_l1_loss": lambda x: losses.smooth_l1_loss(x, Y, 0.7, "none"),
    "triplet_loss": lambda x: losses.triplet_loss(x, Y, Z, margin=3.0),
    "triplet_loss, p 3": lambda x: losses.triplet_loss(x, Y, Z, p=3, margin=3.0),
    "hinge_loss": lambda x: losses.hinge_loss(x, mx.sign(Y)),
    "huber_loss": lambda x: losses.huber_loss(x, Y, 0.6),
    "log_cosh_loss": lambda x: losses.log_cosh_loss(x, Y),
    "cosine_similarity_loss": lambda x: losses.cosine_similarity_loss(x, Y),
    "margin_ranking_loss": lambda x: losses.margin_ranking_loss(x, Y, mx.sign(Z), 0.3),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str):
    check(lambda x: weighted(LOSSES[name](x)), double(3, 4), True, name)
