"""Gradients of functions that take several parts of one array: the parts' cotangents are added where they belong."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPE = (4, 5, 6)


@st.composite
def slices(draw):
    def one(n: int) -> slice:
        bounds = st.none() | st.integers(-n - 1, n + 1)
        return slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, -1, -3])))

    index = tuple(one(n) for n in SHAPE[: draw(st.integers(1, 3))])
    return lambda x: x[index]


@st.composite
def dynamic_slices(draw):
    size = [draw(st.integers(1, n)) for n in SHAPE]
    start = [draw(st.integers(0, n)) for n in SHAPE]
    return lambda x: mx.slice(x, mx.array(start), [0, 1, 2], size)


@st.composite
def gathers(draw):
    axis = draw(st.integers(0, 2))
    indices = draw(st.lists(st.integers(-SHAPE[axis], SHAPE[axis] - 1), min_size=0, max_size=5))
    return lambda x: mx.take(x, mx.array(indices, mx.int32), axis=axis)


@st.composite
def gathers_along(draw):
    axis, seed = draw(st.integers(0, 2)), draw(st.integers(0, 1000))
    indices = mx.array(np.random.default_rng(seed).integers(0, SHAPE[axis], SHAPE).astype(np.int32))
    return lambda x: mx.take_along_axis(x, indices, axis)


PARTS = st.lists(
    slices() | dynamic_slices() | gathers() | gathers_along() | st.just(lambda x: x),
    min_size=1,
    max_size=5,
)


def expected_gradient(parts, x: np.ndarray) -> np.ndarray:
    """Each part of the positions says where its cotangents belong."""
    positions = mx.arange(x.size).reshape(SHAPE)
    gradient = np.zeros(x.size)
    for weight, part in enumerate(parts, 1):
        at = np.array(part(positions)).reshape(-1)
        np.add.at(gradient, at, weight * np.cos(x.reshape(-1)[at]))
    return gradient.reshape(SHAPE)


def loss_of(parts):
    return lambda x: sum((weight * mx.sin(part(x))).sum() for weight, part in enumerate(parts, 1))


@settings(max_examples=150, deadline=None)
@given(PARTS, st.integers(0, 1000))
def test_sums_of_parts(parts, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)
    want = expected_gradient(parts, x)
    for gradient in (mx.grad(loss_of(parts)), mx.compile(mx.grad(loss_of(parts)))):
        np.testing.assert_allclose(np.array(gradient(mx.array(x))), want, rtol=1e-5, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(PARTS)
def test_under_vmap_and_twice(parts) -> None:
    xs = np.random.default_rng(1).standard_normal((3, *SHAPE)).astype(np.float32)
    got = mx.vmap(mx.grad(loss_of(parts)))(mx.array(xs))
    want = np.stack([expected_gradient(parts, x) for x in xs])
    np.testing.assert_allclose(np.array(got), want, rtol=1e-5, atol=1e-5)

    # sin'' = -sin: the derivative of the gradient's sum has the same form.
    second = mx.grad(lambda x: mx.grad(loss_of(parts))(x).sum())(mx.array(xs[0]))
    want = -expected_gradient(parts, xs[0] - np.pi / 2)
    np.testing.assert_allclose(np.array(second), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.complex64])
def test_dtypes(dtype: mx.Dtype) -> None:
    x = mx.zeros(SHAPE, dtype)
    (gradient,) = mx.vjp(lambda x: x[1:3] + x[:2] * 2 + x[::2], [x], [mx.ones((2, 5, 6), dtype)])[1]
    assert gradient.dtype == dtype
    want = np.array([3, 3, 2, 0]).reshape(4, 1, 1) * np.ones(SHAPE)
    assert np.array_equal(np.array(gradient.astype(mx.complex64)), want)
