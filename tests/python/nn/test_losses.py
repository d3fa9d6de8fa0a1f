"""Losses against NumPy in double precision: element types, reductions, extreme values, errors."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import nn_references as ref
import numpy as np
import pytest
from mlx.nn import losses

TOLERANCE = {mx.float32: 1e-5, mx.float16: 2e-2, mx.bfloat16: 1e-1}
Array = np.ndarray
CLASSES = np.array([0, 4, 2, 2, 1, 3])
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 1.0, 3.0])


def norm(x: Array, p: int, eps: float) -> Array:
    return ((abs(x) ** p).sum(-1) + eps) ** (1 / p)


# Each loss of three arrays of shape (6, 5), and the same in NumPy.
CASES: dict[str, tuple[Callable[..., mx.array], Callable[..., Array]]] = {
    "cross_entropy": (
        lambda x, y, z, **k: losses.cross_entropy(x, mx.array(CLASSES), **k),
        lambda x, y, z: -np.log(ref.softmax(x))[np.arange(6), CLASSES],
    ),
    "cross_entropy, weights": (
        lambda x, y, z, **k: losses.cross_entropy(
            x, mx.array(CLASSES), mx.array(WEIGHTS, x.dtype), label_smoothing=0.3, **k
        ),
        lambda x, y, z: (
            -WEIGHTS
            * (
                0.7 * np.log(ref.softmax(x))[np.arange(6), CLASSES]
                + 0.3 * np.log(ref.softmax(x)).mean(-1)
            )
        ),
    ),
    "cross_entropy of chances": (
        lambda x, y, z, **k: losses.cross_entropy(x, mx.softmax(y, axis=-1), **k),
        lambda x, y, z: -(ref.softmax(y) * np.log(ref.softmax(x))).sum(-1),
    ),
    "cross_entropy along an axis": (
        lambda x, y, z, **k: losses.cross_entropy(x.T, mx.array(CLASSES), axis=0, **k),
        lambda x, y, z: -np.log(ref.softmax(x))[np.arange(6), CLASSES],
    ),
    "binary_cross_entropy": (
        lambda x, y, z, **k: losses.binary_cross_entropy(x, mx.sigmoid(y), **k),
        lambda x, y, z: np.logaddexp(0, x) - x * ref.sigmoid(y),
    ),
    "binary_cross_entropy of chances": (
        lambda x, y, z, **k: losses.binary_cross_entropy(
            mx.sigmoid(x), mx.sigmoid(y), mx.abs(z), with_logits=False, **k
        ),
        lambda x, y, z: abs(z) * (np.logaddexp(0, x) - x * ref.sigmoid(y)),
    ),
    "l1_loss": (lambda x, y, z, **k: losses.l1_loss(x, y, **k), lambda x, y, z: abs(x - y)),
    "mse_loss": (lambda x, y, z, **k: losses.mse_loss(x, y, **k), lambda x, y, z: (x - y) ** 2),
    "nll_loss": (
        lambda x, y, z, **k: losses.nll_loss(x, mx.array(CLASSES), **k),
        lambda x, y, z: -x[np.arange(6), CLASSES],
    ),
    "gaussian_nll_loss": (
        lambda x, y, z, **k: losses.gaussian_nll_loss(x, y, mx.exp(z), True, **k),
        lambda x, y, z: 0.5 * (z + (x - y) ** 2 / np.exp(z) + np.log(2 * np.pi)),
    ),
    "kl_div_loss": (
        lambda x, y, z, **k: losses.kl_div_loss(x, y, **k),
        lambda x, y, z: (np.exp(y) * (y - x)).sum(-1),
    ),
    "smooth_l1_loss": (
        lambda x, y, z, **k: losses.smooth_l1_loss(x, y, 0.7, **k),
        lambda x, y, z: np.where(abs(x - y) < 0.7, (x - y) ** 2 / 1.4, abs(x - y) - 0.35),
    ),
    "triplet_loss": (
        lambda x, y, z, **k: losses.triplet_loss(x, y, z, **k),
        lambda x, y, z: np.maximum(norm(x - y, 2, 1e-6) - norm(x - z, 2, 1e-6) + 1, 0),
    ),
    "triplet_loss, p 3": (
        lambda x, y, z, **k: losses.triplet_loss(x, y, z, p=3, margin=2.0, eps=0.5, **k),
        lambda x, y, z: np.maximum(norm(x - y, 3, 0.5) - norm(x - z, 3, 0.5) + 2, 0),
    ),
    "hinge_loss": (
        lambda x, y, z, **k: losses.hinge_loss(x, mx.array(SIGNS, x.dtype), **k),
        lambda x, y, z: np.maximum(1 - x * SIGNS, 0),
    ),
    "huber_loss": (
        lambda x, y, z, **k: losses.huber_loss(x, y, 0.7, **k),
        lambda x, y, z: np.where(abs(x - y) <= 0.7, (x - y) ** 2 / 2, 0.7 * (abs(x - y) - 0.35)),
    ),
    "log_cosh_loss": (
        lambda x, y, z, **k: losses.log_cosh_loss(x, y, **k),
        lambda x, y, z: np.log(np.cosh(x - y)),
    ),
    "cosine_similarity_loss": (
        lambda x, y, z, **k: losses.cosine_similarity_loss(x, y, **k),
        lambda x, y, z: (x * y).sum(1) / norm(x, 2, 0) / norm(y, 2, 0),
    ),
    "margin_ranking_loss": (
        lambda x, y, z, **k: losses.margin_ranking_loss(x, y, mx.sign(z), 0.3, **k),
        lambda x, y, z: np.maximum(-np.sign(z) * (x - y) + 0.3, 0),
    ),
}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: mx.Dtype, rng: np.random.Generator):
    arrays = [mx.array(rng.standard_normal((6, 5))).astype(dtype) for _ in range(3)]
    loss, reference = CASES[name]
    wanted = reference(*(np.array(a.astype(mx.float32), np.float64) for a in arrays))
    tolerance = TOLERANCE[dtype]
    for reduction, reduce in (("none", lambda v: v), ("mean", np.mean), ("sum", np.sum)):
        found = loss(*arrays, reduction=reduction)
        assert found.dtype == dtype
        np.testing.assert_allclose(
            np.array(found.astype(mx.float32)),
            reduce(wanted),
            rtol=tolerance,
            atol=tolerance * (5 if reduction == "sum" else 1),
        )


def test_extreme_values():
    big = mx.array([[1000.0, -1000.0, 0.0]])
    assert losses.cross_entropy(big, mx.array([0])).item() == 0
    assert losses.cross_entropy(big, mx.array([1])).item() == 2000
    assert losses.binary_cross_entropy(mx.array([-500.0]), mx.array([1.0])).item() == 500
    certain = losses.binary_cross_entropy(
        mx.array([0.0, 1.0]), mx.array([1.0, 0.0]), with_logits=False, reduction="none"
    )
    assert certain.tolist() == [100, 100]
    assert losses.log_cosh_loss(mx.array([1000.0]), mx.array([0.0])).item() == pytest.approx(
        1000 - np.log(2)
    )
    zero = mx.zeros((1, 3))
    assert losses.cosine_similarity_loss(zero, zero).item() == 0
    gradient = mx.grad(lambda v: losses.triplet_loss(v, v, zero).sum())(zero)
    assert mx.all(mx.isfinite(gradient)).item()
    assert losses.smooth_l1_loss(mx.array([0.5]), mx.array([0.0]), beta=0).item() == 0.5


def test_empty_batches():
    x = mx.zeros((0, 5))
    assert losses.cross_entropy(x, mx.zeros((0,), dtype=mx.int32)).shape == (0,)
    assert losses.mse_loss(x, x, "sum").item() == 0
    assert losses.cosine_similarity_loss(x, x).shape == (0,)


X, Y = mx.ones((4, 3)), mx.array([0, 1, 2, 0])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: losses.cross_entropy(X, Y, reduction="x"), "reduction must be one of .*'x'"),
        (lambda: losses.cross_entropy(X, Y, label_smoothing=1.0), r"smoothing .*\[0, 1\), got 1.0"),
        (lambda: losses.cross_entropy(X, Y[:3]), r"Targets shape \(3,\) .* logits shape \(4, 3\)"),
        (lambda: losses.cross_entropy(X, X[:, :2]), "Targets shape"),
        (lambda: losses.cross_entropy(X, Y, mx.ones(2)), r"Weights with shape \(2,\)"),
        (lambda: losses.binary_cross_entropy(X, Y), r"Inputs shape \(4, 3\) .* targets .*\(4,\)"),
        (lambda: losses.binary_cross_entropy(X, X, mx.ones(2)), "Weights"),
        (lambda: losses.l1_loss(X, Y), "Predictions shape"),
        (lambda: losses.mse_loss(X, X[:1]), "Predictions shape"),
        (lambda: losses.smooth_l1_loss(X, Y), "Predictions shape"),
        (lambda: losses.gaussian_nll_loss(X, X, Y), "vars shape"),
        (lambda: losses.margin_ranking_loss(X, X, Y), r"targets.shape=\(4,\)"),
    ],
)
def test_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=message):
        call()
