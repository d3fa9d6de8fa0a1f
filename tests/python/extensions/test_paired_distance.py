"""Distances of listed pairs of points: values, derivatives of both orders, memory."""

import mlx.core as mx
import numpy as np
import pytest
from distances import METRICS, check_close, differences, distances, points
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import paired_distance

STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])
METRIC = pytest.mark.parametrize("metric", METRICS)
SHAPES = [(20, 30, 50, 3), (1, 1, 9, 1), (40, 7, 100, 11), (33, 50, 333, 24), (9, 8, 40, 70)]
SHAPES += [(5, 4, 0, 3), (4, 4, 6, 0)]


def pairs(rng: np.random.Generator, n: int, m: int, t: int, d: int) -> tuple:
    """Points of both sides, and the listed pairs."""
    return points(rng, n, d), points(rng, m, d), rng.integers(0, n, t), rng.integers(0, m, t)


@STREAMS
@METRIC
@pytest.mark.parametrize("n, m, t, d", SHAPES)
def test_values_and_gradients(rng, stream, metric, n, m, t, d):
    a, b, i, j = pairs(rng, n, m, t, d)
    g = points(rng, t)
    (got,), grads = mx.vjp(
        lambda x, y: paired_distance(x, y, mx.array(i), mx.array(j), metric, stream=stream),
        [mx.array(a), mx.array(b)],
        [mx.array(g)],
    )
    check_close(got, distances(a[i], b[j], metric))
    # Every pair's own derivative, in double precision.
    x, y = (v.astype(np.float64) for v in (a[i], b[j]))
    dx, dy = np.zeros((t, d)), np.zeros((t, d))
    for k in range(d):
        step = np.zeros(d)
        step[k] = 1e-6
        dx[:, k] = (distances(x + step, y, metric) - distances(x - step, y, metric)) / 2e-6
        dy[:, k] = (distances(x, y + step, metric) - distances(x, y - step, metric)) / 2e-6
    for value, parts, rows, count in zip(grads, (dx, dy), (i, j), (n, m)):
        wanted = np.zeros((count, d))
        np.add.at(wanted, rows, g[:, None] * parts)
        check_close(value, wanted, 1e-4)


@STREAMS
@METRIC
@pytest.mark.parametrize("d", [3, 30])
def test_all_in_order(rng, stream, metric, d):
    a, b = points(rng, 12, d), points(rng, 12, d)
    function = lambda x, y: paired_distance(x, y, metric=metric, stream=stream)  # noqa: E731
    check_close(function(mx.array(a), mx.array(b)), distances(a, b, metric))
    i = mx.arange(11, -1, -1, dtype=mx.uint32)
    got = paired_distance(mx.array(a), mx.array(b), i, metric=metric, stream=stream)
    check_close(got, distances(a[::-1], b, metric))
    got = paired_distance(mx.array(a), mx.array(b), None, i.astype(mx.int64), metric, stream=stream)
    check_close(got, distances(a, b[::-1], metric))
    by_b = mx.grad(lambda y: function(mx.array(a), y).sum())(mx.array(b))
    check_close(by_b, differences(lambda y: distances(a, y, metric).sum(), [b])[0], 1e-4)


@STREAMS
@METRIC
def test_second_derivatives(rng, stream, metric):
    a, b, i, j = pairs(rng, 4, 5, 9, 3)
    g, u, v = points(rng, 9), points(rng, 4, 3), points(rng, 5, 3)

    def product(x, y, w):
        _, grads = mx.vjp(
            lambda p, q: paired_distance(p, q, mx.array(i), mx.array(j), metric, stream=stream),
            [x, y],
            [w],
        )
        return (grads[0] * mx.array(u)).sum() + (grads[1] * mx.array(v)).sum()

    def reference(x, y, w):
        step = 1e-4
        ahead, behind = (distances((x + s * u)[i], (y + s * v)[j], metric) for s in (step, -step))
        return (w * (ahead - behind)).sum() / (2 * step)

    arguments = [mx.array(value) for value in (a, b, g)]
    got = mx.grad(product, argnums=(0, 1, 2))(*arguments)
    wanted = differences(reference, [a, b, g], 1e-4)
    for value, expected in zip(got, wanted):
        check_close(value, expected, 2e-3)
    # The same derivatives in forward mode.
    moved = [points(rng, *value.shape) for value in (a, b, g)]
    _, (rate,) = mx.jvp(product, arguments, [mx.array(value) for value in moved])
    expected = sum((w * m).sum() for w, m in zip(wanted, moved))
    np.testing.assert_allclose(rate.item(), expected, rtol=1e-2, atol=1e-2)


@STREAMS
@METRIC
@pytest.mark.parametrize(
    "axes", [(0, 0, 0, 0), (None, 0, None, 0), (0, None, 0, None), (2, 1, 1, 0)]
)
def test_vmap(rng, stream, metric, axes):
    shapes = [(6, 4), (5, 4), (9,), (9,)]
    single = [*pairs(rng, 6, 5, 9, 4)]
    each = [np.stack([v] * 3) for v in single]
    for k in range(2):
        each[k] = np.stack([points(rng, *shapes[k]) for _ in range(3)])
        each[k + 2] = rng.integers(0, shapes[k][0], (3, 9))
    given_values = [
        mx.array(single[k]) if axis is None else mx.array(np.moveaxis(each[k], 0, axis))
        for k, axis in enumerate(axes)
    ]
    plain = lambda *args: paired_distance(*args, metric, stream=stream)  # noqa: E731
    gradient = mx.grad(lambda *args: plain(*args).square().sum(), argnums=(0, 1))
    got = mx.vmap(plain, axes)(*given_values)
    grads = mx.vmap(gradient, axes)(*given_values)
    for n in range(3):
        own = [single[k] if axis is None else each[k][n] for k, axis in enumerate(axes)]
        check_close(got[n], distances(own[0][own[2]], own[1][own[3]], metric))
        for mapped, wanted in zip(grads, gradient(*map(mx.array, own))):
            check_close(mapped[n], np.array(wanted), 1e-4)


@STREAMS
@METRIC
@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("d", [6, 40])
def test_narrow_types(rng, stream, metric, dtype, tolerance, d):
    a, b, i, j = pairs(rng, 9, 8, 30, d)
    x, y = (mx.array(v).astype(getattr(mx, dtype)) for v in (a, b))
    (got,), grads = mx.vjp(
        lambda p, q: paired_distance(p, q, mx.array(i), mx.array(j), metric, stream=stream),
        [x, y],
        [mx.ones((30,), x.dtype)],
    )
    assert got.dtype == x.dtype and grads[0].dtype == x.dtype
    a, b = (np.array(v.astype(mx.float32)) for v in (x, y))
    check_close(got, distances(a[i], b[j], metric), tolerance)
    wanted = differences(lambda p, q: distances(p[i], q[j], metric).sum(), [a, b])
    for value, expected in zip(grads, wanted):
        check_close(value, expected, 2 * tolerance)


@pytest.mark.cpu_kernels
@STREAMS
@METRIC
@pytest.mark.parametrize("d", [3, 64])
def test_memory(stream, metric, d):
    n, t = 2_000, 200_000
    a, b = mx.random.normal((n, d)), mx.random.normal((n, d))
    i, j = (mx.random.randint(0, n, (t,)).astype(mx.int32) for _ in range(2))
    g = mx.random.normal((t,))
    mx.eval(a, b, i, j, g)
    for device in (mx.cpu, mx.gpu):  # releases what they still hold
        mx.synchronize(mx.default_stream(device))
    function = lambda x, y: paired_distance(x, y, i, j, metric, stream=stream)  # noqa: E731
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    mx.eval(function(a, b))
    assert mx.get_peak_memory() - before <= 1.1 * 4 * t
    # Gradients sort the pairs by point.
    mx.reset_peak_memory()
    mx.eval(mx.vjp(function, [a, b], [g]))
    assert mx.get_peak_memory() - before <= 1.1 * 4 * (3 * t + 2 * (n + n * d) + 2 * n)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    t=st.integers(0, 200),
    d=st.integers(0, 40),
    metric=st.sampled_from(METRICS),
    on_gpu=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_shape(n, m, t, d, metric, on_gpu, seed):
    a, b, i, j = pairs(np.random.default_rng(seed), n, m, t, d)
    (got,), grads = mx.vjp(
        lambda x, y: paired_distance(
            x, y, mx.array(i), mx.array(j), metric, stream=mx.gpu if on_gpu else mx.cpu
        ),
        [mx.array(a), mx.array(b)],
        [mx.ones((t,))],
    )
    check_close(got, distances(a[i], b[j], metric))
    assert grads[0].shape == (n, d) and grads[1].shape == (m, d)
    assert all(np.isfinite(np.array(v)).all() for v in grads)
