"""Distances between points against NumPy and PyTorch: values, derivatives, memory, errors."""

import mlx.core as mx
import numpy as np
import pytest
from distances import METRICS, all_pairs, check_close, differences, distances, points
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import indexed_distance, paired_distance

STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])
METRIC = pytest.mark.parametrize("metric", METRICS)


@STREAMS
@METRIC
@pytest.mark.parametrize(
    "n, m, d",
    [(5, 7, 3), (33, 50, 1), (70, 129, 16), (1, 1, 64), (64, 17, 40), (0, 4, 3)]
    + [(4, 0, 3), (3, 5, 0)],
)
def test_values(rng, stream, metric, n, m, d):
    a, b = points(rng, n, d), points(rng, m, d)
    got = indexed_distance(mx.array(a), mx.array(b), metric=metric, stream=stream)
    check_close(got, all_pairs(a, b, metric))


@STREAMS
@METRIC
@pytest.mark.parametrize("wanted", [(0, 1), (0,), (1,)])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 21])
def test_gradients(rng, stream, metric, wanted, d):
    a, b = points(rng, 13, d), points(rng, 10, d)
    g = points(rng, 13, 10)

    def function(*moved):
        full = [mx.array(a), mx.array(b)]
        for i, value in zip(wanted, moved):
            full[i] = value
        return indexed_distance(*full, metric=metric, stream=stream)

    arguments = [(a, b)[i] for i in wanted]
    _, got = mx.vjp(function, [mx.array(x) for x in arguments], [mx.array(g)])
    expected = differences(lambda x, y: (all_pairs(x, y, metric) * g).sum(), [a, b])
    for value, i in zip(got, wanted):
        check_close(value, expected[i], 1e-4)


@STREAMS
def test_gradients_of_many_points(rng, stream):
    a, b, g = points(rng, 700, 9), points(rng, 333, 9), points(rng, 700, 333)
    _, got = mx.vjp(
        lambda x, y: indexed_distance(x, y, stream=stream),
        [mx.array(a), mx.array(b)],
        [mx.array(g)],
    )
    factor = (g / all_pairs(a, b, "euclidean"))[..., None] * (a[:, None] - b[None])
    check_close(got[0], factor.sum(1), 1e-4)
    check_close(got[1], -factor.sum(0), 1e-4)


@STREAMS
@METRIC
def test_indices(rng, stream, metric):
    a, b = points(rng, 20, 3), points(rng, 30, 3)
    i, j = rng.integers(0, 20, 11), rng.integers(0, 30, 9)
    arguments = [mx.array(v) for v in (a, b, i.astype(np.int32), j.astype(np.uint32))]
    check_close(indexed_distance(*arguments, metric, stream=stream), all_pairs(a[i], b[j], metric))
    pairs = mx.array(rng.integers(0, 30, 11))
    wanted = distances(a[i], b[np.array(pairs)], metric)
    got = paired_distance(arguments[0], arguments[1], arguments[2], pairs, metric, stream=stream)
    check_close(got, wanted)
    by_a = mx.grad(lambda x: indexed_distance(x, *arguments[1:], metric, stream=stream).sum())
    expected = differences(lambda x: all_pairs(x[i], b[j], metric).sum(), [a])[0]
    check_close(by_a(arguments[0]), expected, 1e-4)


@STREAMS
@METRIC
def test_paired_gradients(rng, stream, metric):
    a, b = points(rng, 6, 4), points(rng, 7, 4)
    i, j = rng.integers(0, 6, 15), rng.integers(0, 7, 15)
    g = points(rng, 15)
    _, got = mx.vjp(
        lambda x, y: paired_distance(x, y, mx.array(i), mx.array(j), metric, stream=stream),
        [mx.array(a), mx.array(b)],
        [mx.array(g)],
    )
    wanted = differences(lambda x, y: (distances(x[i], y[j], metric) * g).sum(), [a, b])
    for value, expected in zip(got, wanted):
        check_close(value, expected, 1e-4)


@STREAMS
@METRIC
def test_gradients_are_finite_everywhere(stream, metric):
    a = mx.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [1e-30, 0.0, 0.0], [-4.0, 0.0, 1.0]])
    for function in (indexed_distance, paired_distance):
        value = lambda x, y: function(x, y, metric=metric, stream=stream).sum()  # noqa: B023, E731
        for gradient in mx.grad(value, argnums=(0, 1))(a, a):
            assert np.isfinite(np.array(gradient)).all()
        once = mx.grad(value)
        twice = mx.grad(lambda x: (once(x, a) ** 2).sum())  # noqa: B023
        assert np.isfinite(np.array(twice(a))).all()
    same = np.array(indexed_distance(a, a, metric=metric, stream=stream)).diagonal()
    assert np.allclose(same[[1, 3]], 0, atol=1e-6)
    if metric != "cosine":
        assert (same == 0).all()
    else:
        assert same[0] == 1


@METRIC
@pytest.mark.parametrize("function", [indexed_distance, paired_distance])
def test_jvp(rng, metric, function):
    a, b, da, db = (points(rng, 8, 5) for _ in range(4))
    _, (got,) = mx.jvp(
        lambda x, y: function(x, y, metric=metric),
        [mx.array(a), mx.array(b)],
        [mx.array(da), mx.array(db)],
    )
    reference = all_pairs if function is indexed_distance else distances
    ahead, behind = (
        reference(a + s * da.astype(float), b + s * db.astype(float), metric) for s in (1e-6, -1e-6)
    )
    check_close(got, (ahead - behind) / 2e-6, 1e-4)


@STREAMS
@METRIC
def test_second_derivatives(rng, stream, metric):
    a, b, g, u, v = (points(rng, *s) for s in ((4, 3), (5, 3), (4, 5), (4, 3), (5, 3)))

    def product(x, y, w):
        _, grads = mx.vjp(
            lambda p, q: indexed_distance(p, q, metric=metric, stream=stream), [x, y], [w]
        )
        return (grads[0] * mx.array(u)).sum() + (grads[1] * mx.array(v)).sum()

    def reference(x, y, w):
        step = 1e-4
        ahead, behind = (all_pairs(x + s * u, y + s * v, metric) for s in (step, -step))
        return (w * (ahead - behind)).sum() / (2 * step)

    got = mx.grad(product, argnums=(0, 1, 2))(mx.array(a), mx.array(b), mx.array(g))
    for value, wanted in zip(got, differences(reference, [a, b, g], 1e-4)):
        check_close(value, wanted, 2e-3)


@METRIC
def test_vmap(rng, metric):
    a, b = points(rng, 3, 6, 4), points(rng, 3, 5, 4)
    plain = lambda x, y: indexed_distance(x, y, metric=metric)  # noqa: E731
    check_close(
        mx.vmap(plain)(mx.array(a), mx.array(b)),
        np.stack([all_pairs(x, y, metric) for x, y in zip(a, b)]),
    )
    check_close(
        mx.vmap(plain, (None, 2))(mx.array(a[0]), mx.array(b.transpose(1, 2, 0))),
        np.stack([all_pairs(a[0], y, metric) for y in b]),
    )
    gradient = mx.grad(lambda x, y: plain(x, y).sum(), argnums=(0, 1))
    for i, (x, y) in enumerate(zip(a, b)):
        for got, wanted in zip(
            mx.vmap(gradient)(mx.array(a), mx.array(b)), gradient(mx.array(x), mx.array(y))
        ):
            check_close(got[i], np.array(wanted))


@STREAMS
@METRIC
@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("bfloat16", 2e-2)])
def test_narrow_types(rng, stream, metric, dtype, tolerance):
    a, b = (mx.array(points(rng, 9, 6)).astype(getattr(mx, dtype)) for _ in range(2))
    (got,), grads = mx.vjp(
        lambda x, y: indexed_distance(x, y, metric=metric, stream=stream), [a, b], [mx.ones((9, 9))]
    )
    assert got.dtype == a.dtype and grads[0].dtype == a.dtype
    a, b = (np.array(v.astype(mx.float32)) for v in (a, b))
    check_close(got, all_pairs(a, b, metric), tolerance)
    wanted = differences(lambda x, y: all_pairs(x, y, metric).sum(), [a, b])
    check_close(grads[0], wanted[0], 2 * tolerance)
    check_close(grads[1], wanted[1], 2 * tolerance)


def test_integers_and_mixed_types():
    a = mx.array([[0, 3], [4, 0]])
    assert indexed_distance(a, a).tolist() == [[0, 5], [5, 0]]
    assert indexed_distance(a.astype(mx.float16), a.astype(mx.float32)).dtype == mx.float32
    assert paired_distance(a, a[::-1]).tolist() == [5, 5]


def test_far_from_the_origin(rng):
    a = points(rng, 40, 3) + 1000
    assert np.allclose(
        np.array(indexed_distance(mx.array(a), mx.array(a))),
        all_pairs(a, a, "euclidean"),
        atol=1e-6,
        rtol=1e-5,
    )


@STREAMS
@METRIC
@pytest.mark.parametrize("n, d", [(3000, 3), (3000, 64)])
def test_memory(stream, metric, n, d):
    a, b = mx.random.normal((n, d)), mx.random.normal((n, d))
    mx.eval(a, b)
    for device in (mx.cpu, mx.gpu):  # releases what they still hold
        mx.synchronize(mx.default_stream(device))
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    mx.eval(indexed_distance(a, b, metric=metric, stream=stream))
    assert mx.get_peak_memory() - before <= 1.1 * 4 * n * n


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, 40),
    m=st.integers(0, 40),
    d=st.integers(0, 20),
    metric=st.sampled_from(METRICS),
    on_gpu=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_shape(n, m, d, metric, on_gpu, seed):
    rng = np.random.default_rng(seed)
    a, b, g = points(rng, n, d), points(rng, m, d), points(rng, n, m)
    (got,), grads = mx.vjp(
        lambda x, y: indexed_distance(x, y, metric=metric, stream=mx.gpu if on_gpu else mx.cpu),
        [mx.array(a), mx.array(b)],
        [mx.array(g)],
    )
    check_close(got, all_pairs(a, b, metric))
    assert grads[0].shape == (n, d) and grads[1].shape == (m, d)
    assert all(np.isfinite(np.array(v)).all() for v in grads)


def test_errors():
    a, b = mx.ones((4, 3)), mx.ones((5, 3))
    one = mx.array([1])
    calls = [
        ((a[0], b), {}, r"a must have shape \(points, coordinates\)"),
        ((a, b[None]), {}, "b must have shape"),
        ((a, mx.ones((5, 2))), {}, "as many coordinates, but they have 3 and 2"),
        ((a, b), {"metric": "chebyshev"}, "Invalid metric 'chebyshev'.*manhattan"),
        ((a, b, mx.array([4]), one), {}, r"a_indices: it holds 4.*\[0, 4\)"),
        ((a, b, one, mx.array([-1])), {}, "b_indices: it holds -1"),
        ((a, b, one.astype(mx.float32), one), {}, "a_indices must be int32"),
        ((a, b, one[None], one), {}, "a_indices must have one dimension"),
        ((a.astype(mx.complex64), b), {}, "complex64"),
    ]
    for function in (indexed_distance, paired_distance):
        for arguments, keywords, message in calls:
            with pytest.raises(ValueError, match=rf"\[{function.__name__}\] .*" + message):
                mx.eval(function(*arguments, **keywords))
    with pytest.raises(ValueError, match="as many points or a_indices"):
        paired_distance(a, b)


@pytest.mark.torch
@pytest.mark.parametrize("p, metric", [(1.0, "manhattan"), (2.0, "euclidean")])
def test_against_torch(rng, torch, p, metric):
    a, b, g = points(rng, 30, 7), points(rng, 20, 7), points(rng, 30, 20)
    b[0] = a[0]
    ta, tb = (torch.from_numpy(v).requires_grad_() for v in (a, b))
    expected = torch.cdist(ta, tb, p, compute_mode="donot_use_mm_for_euclid_dist")
    expected.backward(torch.from_numpy(g))
    (got,), grads = mx.vjp(
        lambda x, y: indexed_distance(x, y, metric=metric),
        [mx.array(a), mx.array(b)],
        [mx.array(g)],
    )
    check_close(got, expected.detach().numpy())
    check_close(grads[0], ta.grad.numpy(), 1e-4)
    check_close(grads[1], tb.grad.numpy(), 1e-4)
    cosines = torch.nn.functional.cosine_similarity(ta, tb[:1]).detach().numpy()
    check_close(indexed_distance(mx.array(a), mx.array(b[:1]), metric="cosine")[:, 0], 1 - cosines)
