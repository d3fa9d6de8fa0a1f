"""Initial values: their distribution, shapes, types and errors."""

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx.nn import init

FILTERS = (64, 3, 5, 32)
FAN_IN, FAN_OUT = 32 * 15, 64 * 15


@pytest.mark.parametrize(
    "function, std",
    [
        (init.normal(0.0, 0.3), 0.3),
        (init.uniform(-0.6, 0.6), 0.6 / math.sqrt(3)),
        (init.glorot_normal(), math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (init.glorot_uniform(), math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (init.he_normal(), 1 / math.sqrt(FAN_IN)),
        (init.he_uniform(), 1 / math.sqrt(FAN_IN)),
        (lambda a: init.he_normal()(a, "fan_out", 2.0), 2 / math.sqrt(FAN_OUT)),
        (lambda a: init.he_uniform()(a, mode="fan_out"), 1 / math.sqrt(FAN_OUT)),
        (lambda a: init.glorot_normal()(a, 3.0), 3 * math.sqrt(2 / (FAN_IN + FAN_OUT))),
    ],
)
def test_spread(function: Callable[[mx.array], mx.array], std: float):
    mx.random.seed(0)
    values = np.array(function(mx.zeros(FILTERS)))
    assert values.shape == FILTERS
    assert abs(values.mean()) < std / 30 and abs(values.std() / std - 1) < 0.02


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
def test_types(dtype: mx.Dtype):
    a = mx.zeros((4, 4))
    for make in (
        lambda: init.constant(1.0, dtype),
        lambda: init.normal(dtype=dtype),
        lambda: init.uniform(dtype=dtype),
        lambda: init.identity(dtype),
        lambda: init.glorot_normal(dtype),
        lambda: init.glorot_uniform(dtype),
        lambda: init.he_normal(dtype),
        lambda: init.he_uniform(dtype),
        lambda: init.sparse(0.5, dtype=dtype),
        lambda: init.orthogonal(dtype=dtype),
    ):
        assert make()(a).dtype == dtype and make()(a).shape == (4, 4)


def test_constant_and_identity():
    assert init.constant(0.5)(mx.zeros((2, 1))).tolist() == [[0.5], [0.5]]
    assert init.identity()(mx.zeros((2, 2))).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (3, 7)], ids=str)
def test_orthogonal(shape: tuple[int, int]):
    values = np.array(init.orthogonal(1.5)(mx.zeros(shape)), np.float64)
    small = values @ values.T if shape[0] < shape[1] else values.T @ values
    np.testing.assert_allclose(small, 2.25 * np.eye(min(shape)), atol=1e-5)


@pytest.mark.parametrize("sparsity", [0.0, 0.3, 1.0])
def test_sparse(sparsity: float):
    values = np.array(init.sparse(sparsity, 1.0, 0.1)(mx.zeros((6, 11))))
    assert ((values == 0).sum(1) == math.ceil(sparsity * 11)).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: init.identity()(mx.zeros((2, 3))), "square"),
        (lambda: init.glorot_normal()(mx.zeros((3,))), "at least 2 dimensions"),
        (lambda: init.he_uniform()(mx.zeros((3,))), "at least 2 dimensions"),
        (lambda: init.he_normal()(mx.zeros((3, 3)), mode="x"), "mode .*'x'"),
        (lambda: init.sparse(0.5)(mx.zeros((3,))), "2 dimensions but it has 1"),
        (lambda: init.orthogonal()(mx.zeros((3, 3, 3))), "2 dimensions but it has 3"),
    ],
)
def test_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=message):
        call()
