"""fast.cross_entropy and fast.gated_delta_update beside loops in NumPy's double precision."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(11)


def wide(x):
    return np.array(x.astype(mx.float32)).astype(np.float64)


def normal(*shape):
    return mx.array(RNG.standard_normal(shape).astype(np.float32))


# ---- cross entropy ----


def losses(logits, targets):
    top = logits.max(-1, keepdims=True)
    sums = np.log(np.exp(logits - top).sum(-1)) + top[..., 0]
    return sums - np.take_along_axis(logits, targets[..., None], -1)[..., 0]


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32])
@pytest.mark.parametrize("shape", [(7,), (1, 1), (4, 1000), (2, 3, 33), (0, 5)])
def test_cross_entropy(shape, dtype, device):
    logits = (3 * normal(*shape)).astype(dtype)
    targets = mx.array(RNG.integers(0, shape[-1], shape[:-1]))
    got = mx.fast.cross_entropy(logits, targets, stream=device)
    assert got.dtype == mx.float32 and got.shape == shape[:-1]
    np.testing.assert_allclose(got, losses(wide(logits), np.array(targets)), rtol=1e-5, atol=1e-5)


def test_cross_entropy_of_extremes():
    logits = mx.array([[-np.inf, 2.0], [1e4, -1e4]])
    assert mx.fast.cross_entropy(logits, mx.array([1, 1])).tolist() == [0, 20000]
    large = mx.array([[60000.0, 60000.0]], mx.float16)
    assert mx.fast.cross_entropy(large, mx.array([0], mx.uint8)).item() == pytest.approx(
        np.log(2), abs=4e-3
    )


def test_cross_entropy_has_derivatives_and_maps():
    logits, targets = normal(3, 5), mx.array([0, 4, 2])
    gradient = mx.grad(lambda x: mx.fast.cross_entropy(x, targets).sum())(logits)
    want = np.array(mx.softmax(logits, -1)) - np.eye(5)[np.array(targets)]
    np.testing.assert_allclose(gradient, want, atol=1e-6)
    half = mx.grad(lambda x: mx.fast.cross_entropy(x, targets).sum())(logits.astype(mx.float16))
    assert half.dtype == mx.float16
    np.testing.assert_allclose(wide(half), want, atol=2e-3)
    (tangent,) = mx.jvp(lambda x: mx.fast.cross_entropy(x, targets), [logits], [logits])[1]
    np.testing.assert_allclose(tangent, (want * np.array(logits)).sum(-1), atol=1e-5)
    mapped = mx.vmap(mx.fast.cross_entropy)(logits, targets)
    np.testing.assert_allclose(mapped, mx.fast.cross_entropy(logits, targets), atol=1e-6)


@pytest.mark.parametrize(
    "logits, targets, message",
    [
        (mx.array(1.0), mx.array(0), "at least 1 dimension"),
        (mx.array([1, 2]), mx.array(0), "floating type, not int32"),
        (mx.ones((2, 3)), mx.ones(2), "must be integers"),
        (mx.ones((2, 3)), mx.array([True, False]), "must be integers"),
        (mx.ones((2, 3)), mx.array([[0], [1]]), "shape of the logits without its last axis"),
        (mx.ones((2, 0)), mx.array([0, 0]), "There are no classes"),
    ],
)
def test_cross_entropy_refuses(logits, targets, message):
    with pytest.raises(ValueError, match=r"\[cross_entropy\].*" + message):
        mx.fast.cross_entropy(logits, targets)


# ---- the gated delta rule ----


def steps(q, k, v, gamma, beta, state=None, mask=None):
    """One position after the other."""
    batch, length, heads, width = v.shape
    shared = heads // q.shape[2]
    out = np.zeros(v.shape)
    last = np.zeros((batch, heads, width, q.shape[3])) if state is None else state.copy()
    for b, h in np.ndindex(batch, heads):
        for t in range(length):
            if mask is not None and not mask[b, t]:
                continue
            key, s = k[b, t, h // shared], last[b, h] * gamma[b, t, h]
            s = s + beta[b, t, h] * np.outer(v[b, t, h] - s @ key, key)
            last[b, h], out[b, t, h] = s, s @ q[b, t, h // shared]
    return out, last


def inputs(length, batch=2, key_heads=2, heads=4, key_width=6, width=5, columns=False):
    q, k = normal(batch, length, key_heads, key_width), normal(batch, length, key_heads, key_width)
    k = k / mx.linalg.norm(k, axis=-1, keepdims=True)
    shape = (batch, length, heads)
    gamma = mx.array(RNG.uniform(0.3, 1, shape + (key_width,) * columns).astype(np.float32))
    beta = mx.array(RNG.uniform(0, 1, shape).astype(np.float32))
    return [q, k, normal(*shape, width), gamma, beta]


def agree(got, want, tolerance=2e-5):
    for ours, theirs in zip(got, want):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(wide(ours), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("length", [1, 2, 15, 64, 65, 200])
def test_gated_delta(length, columns, device):
    arrays = inputs(length, columns=columns)
    got = mx.fast.gated_delta_update(*arrays, stream=device)
    assert got[1].dtype == mx.float32
    agree(got, steps(*map(wide, arrays)))


def test_gated_delta_goes_on():
    arrays = inputs(70)
    whole = mx.fast.gated_delta_update(*arrays)
    first = mx.fast.gated_delta_update(*[a[:, :33] for a in arrays])
    second = mx.fast.gated_delta_update(*[a[:, 33:] for a in arrays], first[1])
    agree([mx.concatenate([first[0], second[0]], 1), second[1]], [wide(r) for r in whole])


@pytest.mark.parametrize("columns", [False, True])
def test_gated_delta_masks(columns):
    arrays, mask = inputs(40, columns=columns), RNG.integers(0, 2, (2, 40)).astype(bool)
    state = normal(2, 4, 5, 6)
    want = steps(*map(wide, arrays), wide(state), mask)
    agree(mx.fast.gated_delta_update(*arrays, state, mx.array(mask)), want)
    agree(mx.fast.gated_delta_update(*arrays, state, mx.array(mask).astype(mx.float32)), want)


def test_gated_delta_forgets():
    arrays = inputs(30)
    arrays[3] = mx.where(mx.random.uniform(shape=(2, 30, 4)) < 0.3, 0.0, arrays[3])
    agree(mx.fast.gated_delta_update(*arrays), steps(*map(wide, arrays)))


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_gated_delta_of_short_types(dtype):
    arrays = [a.astype(dtype) for a in inputs(20)]
    out, state = mx.fast.gated_delta_update(*arrays)
    assert out.dtype == dtype and state.dtype == mx.float32
    agree((out, state), steps(*map(wide, arrays)), 3e-2)


@pytest.mark.parametrize("columns", [False, True])
def test_gated_delta_has_derivatives(columns):
    arrays = inputs(9, 1, 1, 2, 3, 2, columns)
    arrays.append(normal(1, 2, 2, 3))
    weights, weights_of_state = normal(1, 9, 2, 2), normal(1, 2, 2, 3)

    def loss(*args):
        out, state = mx.fast.gated_delta_update(*args)
        return (out * weights).sum() + (state * weights_of_state).sum()

    def loss64(args):
        out, state = steps(*args)
        return (out * wide(weights)).sum() + (state * wide(weights_of_state)).sum()

    gradients = mx.grad(loss, argnums=tuple(range(6)))(*arrays)
    for i, gradient in enumerate(gradients):
        direction = RNG.standard_normal(arrays[i].shape)
        ends = []
        for sign in (1, -1):
            moved = [wide(a) for a in arrays]
            moved[i] = moved[i] + sign * 1e-5 * direction
            ends.append(loss64(moved))
        want = (ends[0] - ends[1]) / 2e-5
        assert (wide(gradient) * direction).sum() == pytest.approx(want, rel=1e-3, abs=1e-3)


def test_gated_delta_maps():
    arrays = [mx.stack([a, 0.5 * a]) for a in inputs(20)]
    mapped = mx.vmap(lambda *args: tuple(mx.fast.gated_delta_update(*args)))(*arrays)
    for i in range(2):
        alone = mx.fast.gated_delta_update(*[a[i] for a in arrays])
        agree([m[i] for m in mapped], [wide(r) for r in alone])


def test_gated_delta_of_nothing():
    arrays, state = inputs(0), normal(2, 4, 5, 6)
    out, last = mx.fast.gated_delta_update(*arrays, state)
    assert out.shape == (2, 0, 4, 5) and mx.array_equal(last, state)


def test_gated_delta_refuses():
    q, k, v, gamma, beta = inputs(4)
    cases = [
        ((q[0], k, v, gamma, beta), "q and v must have 4 dimensions"),
        ((q, k[..., :2], v, gamma, beta), r"k must have the shape \(2,4,2,6\)"),
        ((q, k, v[:, :, :3], gamma, beta), "a multiple of its heads"),
        ((q, k, v, gamma[:, :2], beta), r"gamma must have the shape \(2,4,4\)"),
        ((q, k, v, gamma, beta[:1]), "beta must have the shape"),
        ((q, k, v, gamma, beta, mx.zeros((2, 4, 6, 5))), "initial_state must have the shape"),
        ((q, k, v, gamma, beta, None, mx.ones(4)), "mask must have the shape"),
        ((q, k, v.astype(mx.int32), gamma, beta), "floating types, not int32"),
    ]
    for args, message in cases:
        with pytest.raises(ValueError, match=r"\[gated_delta_update\].*" + message):
            mx.fast.gated_delta_update(*args)
