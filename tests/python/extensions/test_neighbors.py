"""Searches for neighbours against distances of all pairs in NumPy, and against SciPy's trees."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import knn, radius_search

STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])


def reference(points, queries, lengths=None, query_lengths=None):
    """Distances of all pairs in double precision; infinite between clouds."""
    p, q = points.astype(np.float64), queries.astype(np.float64)
    d = np.sqrt(((q[:, None] - p[None]) ** 2).sum(-1))
    if lengths is not None:
        clouds = np.repeat(np.arange(len(lengths)), lengths)
        query_clouds = np.repeat(np.arange(len(lengths)), query_lengths)
        d[query_clouds[:, None] != clouds[None]] = np.inf
    return d


def check_knn(found, d: np.ndarray, k: int) -> None:
    indices, distances, counts = (np.array(a) for a in found)
    assert indices.shape == distances.shape == (len(d), k)
    available = np.isfinite(d).sum(1)
    assert np.array_equal(counts, np.minimum(available, k))
    wanted = np.full((len(d), k), np.inf)
    ordered = np.sort(d, axis=1)[:, :k]
    wanted[:, : ordered.shape[1]] = ordered
    np.testing.assert_allclose(distances, wanted, rtol=1e-5, atol=1e-6)
    there = np.arange(k) < counts[:, None]
    assert np.array_equal(indices >= 0, there) and (indices[~there] == -1).all()
    rows = np.broadcast_to(np.arange(len(d))[:, None], indices.shape)[there]
    np.testing.assert_allclose(d[rows, indices[there]], distances[there], rtol=1e-5, atol=1e-6)
    for row, count in zip(indices, counts):
        assert len(set(row[:count].tolist())) == count


def clouds(rng: np.random.Generator, kind: str, count: int, dims: int) -> np.ndarray:
    if kind == "uniform":
        return rng.random((count, dims)).astype(np.float32)
    if kind == "clusters":
        centres = rng.standard_normal((5, dims)) * 1000
        points = centres[rng.integers(0, 5, count)] + rng.standard_normal((count, dims)) * 0.01
        return points.astype(np.float32)
    if kind == "line":
        return (rng.random((count, 1)) * np.ones((1, dims))).astype(np.float32)
    return np.ones((count, dims), np.float32)


@STREAMS
@pytest.mark.parametrize("kind", ["uniform", "clusters", "line", "same"])
@pytest.mark.parametrize("dims, k", [(1, 3), (2, 60), (3, 16), (10, 5), (40, 7)])
def test_knn(rng, stream, kind, dims, k):
    points = clouds(rng, kind, 700, dims)
    queries = np.concatenate([points[::7], clouds(rng, "uniform", 50, dims)])
    found = knn(mx.array(points), mx.array(queries), k, stream=stream)
    check_knn(found, reference(points, queries), k)


@STREAMS
def test_ties_go_to_the_smaller_index(rng, stream):
    grid = np.stack(np.meshgrid(*[np.arange(8)] * 3), -1).reshape(-1, 3).astype(np.float32)
    order = rng.permutation(len(grid))
    points = mx.array(grid[order])
    wanted = np.argsort(reference(grid[order], grid[order]), axis=1, kind="stable")
    for k in (1, 30, 32, 33, 100, len(grid)):
        indices = np.array(knn(points, points, k, stream=stream)[0])
        assert np.array_equal(indices, wanted[:, :k])


@STREAMS
def test_ragged_batches(rng, stream):
    lengths, query_lengths = np.array([300, 0, 2, 90]), np.array([5, 4, 0, 30])
    points, queries = clouds(rng, "uniform", 392, 3), clouds(rng, "uniform", 39, 3)
    arguments = [mx.array(v) for v in (lengths.astype(np.int32), query_lengths.astype(np.int32))]
    d = reference(points, queries, lengths, query_lengths)
    check_knn(knn(mx.array(points), mx.array(queries), 4, *arguments, stream=stream), d, 4)
    found = radius_search(mx.array(points), mx.array(queries), 0.3, 9, *arguments, stream=stream)
    assert np.array_equal(np.array(found[2]), (d <= 0.3).sum(1))


@STREAMS
@pytest.mark.parametrize("dims", [1, 2, 3, 6])
@pytest.mark.parametrize("most", [0, 1, 8, 200])
def test_radius_search(rng, stream, dims, most):
    points, queries = clouds(rng, "uniform", 500, dims), clouds(rng, "uniform", 60, dims)
    d = reference(points, queries)
    # The radius is in the middle of a gap between distances, so that rounding does not matter.
    ordered = np.sort(d, axis=None)[d.size // 20 :][:300]
    gap = np.argmax(np.diff(ordered))
    radius = float(ordered[gap : gap + 2].mean())
    found = radius_search(mx.array(points), mx.array(queries), radius, most, stream=stream)
    assert np.array_equal(np.array(found[2]), (d <= radius).sum(1))
    near = np.where(d <= radius, d, np.inf)
    check_knn((found[0], found[1], mx.minimum(found[2], most)), near, most)


@STREAMS
def test_radius_is_inclusive(stream):
    points = mx.array([[0.0], [0.5], [1.0], [-0.5]])
    found = radius_search(points, mx.array([[0.0]]), 0.5, 4, stream=stream)
    assert found[0].tolist() == [[0, 1, 3, -1]] and found[2].tolist() == [3]
    assert radius_search(points, points[:1], 0.0, 2, stream=stream)[2].tolist() == [1]


@STREAMS
def test_points_that_are_not_finite(stream):
    points = mx.array([[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 0.0], [1.0, 0.0]])
    indices, distances, counts = knn(points, points, 3, stream=stream)
    assert indices.tolist() == [[0, 3, -1], [-1] * 3, [-1] * 3, [3, 0, -1]]
    assert counts.tolist() == [2, 0, 0, 2]


@STREAMS
def test_far_apart(stream):
    # Squared distances overflow.
    points = mx.array([[3e38], [0.0], [-3e38]])
    indices, distances, counts = knn(points, points, 3, stream=stream)
    assert indices.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1]] and counts.tolist() == [3] * 3
    assert distances[:, 0].tolist() == [0] * 3 and np.isinf(np.array(distances[:, 1:])).all()


@STREAMS
def test_empty(stream):
    none = mx.zeros((0, 3))
    assert knn(none, none, 2, stream=stream)[0].shape == (0, 2)
    indices, distances, counts = knn(none, mx.zeros((2, 3)), 2, stream=stream)
    assert indices.tolist() == [[-1, -1]] * 2 and counts.tolist() == [0, 0]
    flat = knn(mx.zeros((3, 0)), mx.zeros((1, 0)), 2, stream=stream)
    assert flat[0].tolist() == [[0, 1]]


def test_types():
    points = mx.array([[0, 0], [3, 4]])
    assert knn(points, points, 2)[1].tolist() == [[0, 5], [0, 5]]
    assert knn(points.astype(mx.float16), points, 2)[1].dtype == mx.float32


# ---- derivatives ----


@STREAMS
def test_gradients(rng, stream):
    points, queries = clouds(rng, "uniform", 40, 3), clouds(rng, "uniform", 11, 3)
    queries[0] = points[0]
    g = rng.standard_normal((11, 4)).astype(np.float32)

    def value(p, q):
        return (knn(p, q, 4, stream=stream)[1] * mx.array(g)).sum()

    by_points, by_queries = mx.grad(value, argnums=(0, 1))(mx.array(points), mx.array(queries))
    indices = np.array(knn(mx.array(points), mx.array(queries), 4)[0])
    difference = queries[:, None].astype(np.float64) - points[indices]
    norms = np.linalg.norm(difference, axis=-1, keepdims=True)
    parts = g[..., None] * difference / np.where(norms == 0, 1, norms)
    wanted = np.zeros(points.shape)
    np.add.at(wanted, indices, -parts)
    np.testing.assert_allclose(np.array(by_points), wanted, atol=1e-5)
    np.testing.assert_allclose(np.array(by_queries), parts.sum(1), atol=1e-5)

    moved = [rng.standard_normal(v.shape).astype(np.float32) for v in (points, queries)]
    _, (rate,) = mx.jvp(
        lambda p, q: knn(p, q, 4)[1],
        [mx.array(points), mx.array(queries)],
        list(map(mx.array, moved)),
    )
    rates = (difference * (moved[1][:, None] - moved[0][indices])).sum(-1)
    np.testing.assert_allclose(
        np.array(rate), rates / np.where(norms == 0, 1, norms)[..., 0], atol=1e-4
    )


def test_gradient_where_neighbours_are_missing():
    points = mx.array([[0.0, 0.0], [3.0, 4.0]])

    def value(p):
        distances = knn(p, p, 4)[1]
        return mx.where(mx.isinf(distances), 0, distances).sum()

    assert np.allclose(np.array(mx.grad(value)(points)), [[-1.2, -1.6], [1.2, 1.6]])


@STREAMS
def test_vmap(rng, stream):
    points, queries = (rng.random((3, n, 2)).astype(np.float32) for n in (20, 6))
    function = lambda p, q: knn(p, q, 5, stream=stream)  # noqa: E731
    for mapped in (
        mx.vmap(function)(mx.array(points), mx.array(queries)),
        mx.vmap(function, (1, 2))(
            mx.array(points.transpose(1, 0, 2)), mx.array(queries.transpose(1, 2, 0))
        ),
    ):
        for i in range(3):
            for got, wanted in zip(mapped, function(mx.array(points[i]), mx.array(queries[i]))):
                assert np.array_equal(np.array(got[i]), np.array(wanted))


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 60), min_size=1, max_size=5),
    dims=st.integers(1, 8),
    k=st.integers(1, 70),
    spread=st.sampled_from([1, 3, 1000]),
    seed=st.integers(0, 1000),
    on_gpu=st.booleans(),
)
def test_any_batch(lengths, dims, k, spread, seed, on_gpu):
    rng = np.random.default_rng(seed)
    query_lengths = rng.integers(0, 8, len(lengths))
    points = rng.integers(0, spread, (sum(lengths), dims)).astype(np.float32)
    queries = rng.integers(0, spread, (query_lengths.sum(), dims)).astype(np.float32)
    batch = (mx.array(lengths), mx.array(query_lengths))
    stream = mx.gpu if on_gpu else mx.cpu
    found = knn(mx.array(points), mx.array(queries), k, *batch, stream=stream)
    d = reference(points, queries, lengths, query_lengths)
    check_knn(found, d, k)
    wanted = np.argsort(d, axis=1, kind="stable")[:, :k]
    there = np.take_along_axis(np.isfinite(d), wanted, 1)
    indices = np.array(found[0])[:, : wanted.shape[1]]
    assert np.array_equal(indices, np.where(there, wanted, -1))
    radius = spread / 2 + 0.25  # whose square is no integer
    found = radius_search(mx.array(points), mx.array(queries), radius, k, *batch, stream=stream)
    assert np.array_equal(np.array(found[2]), (d <= radius).sum(1))
    near = np.where(d <= radius, d, np.inf)
    check_knn((found[0], found[1], mx.minimum(found[2], k)), near, k)


@STREAMS
def test_against_scipy(rng, stream):
    trees = pytest.importorskip("scipy.spatial")
    points = clouds(rng, "uniform", 5000, 3)
    distances, indices = trees.cKDTree(points).query(points, 16)
    found = knn(mx.array(points), mx.array(points), 16, stream=stream)
    assert np.array_equal(np.array(found[0]), indices)
    np.testing.assert_allclose(np.array(found[1]), distances, atol=1e-6)


def test_errors():
    p, q, n = mx.ones((4, 3)), mx.ones((2, 3)), mx.array
    calls = [
        ((p[0], q), "points must have shape"),
        ((p, q[None]), "queries must have shape"),
        ((p, q[:, :2]), "as many coordinates, but they have 3 and 2"),
        ((p.astype(mx.complex64), q), "points must be float32"),
        ((p, q, n([4])), "lengths and query_lengths must be given together"),
        ((p, q, n([4]), n([1, 1])), "lengths and query_lengths must have the same shape"),
        ((p, q, n([3]), n([2])), "lengths: its sum is 3.*4 points"),
        ((p, q, n([4]), n([3])), "query_lengths: its sum is 3.*2 queries"),
        ((p, q, n([5, -1]), n([1, 1])), "lengths: it holds -1"),
    ]
    for (a, b, *lengths), message in calls:
        with pytest.raises(ValueError, match=r"\[knn\] .*" + message):
            mx.eval(knn(a, b, 1, *lengths))
        with pytest.raises(ValueError, match=r"\[radius_search\] .*" + message):
            mx.eval(radius_search(a, b, 1.0, 1, *lengths))
    for k in (0, -3):
        with pytest.raises(ValueError, match=rf"Invalid k {k}"):
            knn(p, q, k)
    for radius in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="Invalid radius"):
            radius_search(p, q, radius, 1)
    with pytest.raises(ValueError, match="Invalid max_neighbors -1"):
        radius_search(p, q, 1.0, -1)
