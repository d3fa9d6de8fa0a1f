"""Batches of point clouds: contents, conversions, and transformations."""

import mlx.core as mx
import mlx.utils
import numpy as np
import pytest
from mlx_sample_extensions import (
    OffsetPointCloudBatch,
    PointCloudBatch,
    grid_subsample,
    knn,
    radius_search,
    segment_reduce,
)

LENGTHS = [3, 0, 4, 1]
KINDS = pytest.mark.parametrize("kind", [PointCloudBatch, OffsetPointCloudBatch])


def arrays(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((8, 3)).astype(np.float32), rng.standard_normal((8, 2, 2)).astype(
        np.float32
    )


def make(kind, rng, lengths=LENGTHS):
    positions, features = map(mx.array, arrays(rng))
    if kind is PointCloudBatch:
        return kind(positions, features, lengths=mx.array(lengths))
    return kind(positions, features, offsets=mx.array(np.cumsum([0, *lengths]).astype(np.int32)))


@KINDS
def test_attributes(rng, kind):
    batch = make(kind, rng)
    positions, features = arrays(np.random.default_rng(0))
    assert batch.batch_size == len(batch) == 4 and batch.total_points == 8
    assert batch.lengths.tolist() == LENGTHS
    assert batch.offsets.tolist() == [0, 3, 3, 7, 8]
    assert batch.indices.tolist() == [0, 0, 0, 2, 2, 2, 2, 3]
    for i, (start, end) in enumerate([(0, 3), (3, 3), (3, 7), (7, 8)]):
        assert np.array_equal(np.array(batch.get_points(i)), positions[start:end])
        assert np.array_equal(np.array(batch.get_features(i - 4)), features[start:end])
    index = mx.array([[7, 0], [3, 3]])
    assert np.array_equal(np.array(batch.gather_by_index(index)), positions[np.array(index)])
    values = mx.array(features)
    for operation in ("sum", "max"):
        assert mx.array_equal(
            batch.segment_reduce(values, operation),
            segment_reduce(values, mx.array(LENGTHS), operation),
        )
    assert repr(batch) == f"{kind.__name__}(batch_size=4, positions=(8, 3), features=(8, 2, 2))"


def test_ways_to_make_one(rng):
    positions = mx.array(arrays(rng)[0])
    assert PointCloudBatch(positions).lengths.tolist() == [8]
    assert OffsetPointCloudBatch(positions).offsets.tolist() == [0, 8]
    assert PointCloudBatch(positions, lengths=LENGTHS).lengths.tolist() == LENGTHS
    indices = mx.array([0, 0, 0, 2, 2, 2, 2, 3])
    assert PointCloudBatch(positions, indices=indices).lengths.tolist() == LENGTHS
    both = PointCloudBatch(positions, lengths=mx.array(LENGTHS), indices=indices)
    assert both.indices is indices
    assert PointCloudBatch(positions, lengths=mx.array([5, 5]), check=False).batch_size == 2
    empty = PointCloudBatch(mx.zeros((0, 3)), lengths=[])
    assert empty.batch_size == 0 and empty.to_dense().shape == (0, 0, 3) and not list(empty)


def test_conversions(rng):
    batch = make(PointCloudBatch, rng)
    other = batch.to_offsets()
    assert type(other) is OffsetPointCloudBatch and other.features is batch.features
    assert other.as_lengths().tolist() == LENGTHS
    assert other.to_lengths().lengths.tolist() == LENGTHS


@KINDS
def test_padded(rng, kind):
    batch = make(kind, rng)
    positions, features, mask = batch.to_padded()
    assert positions.shape == (4, 4, 3) and features.shape == (4, 4, 2, 2)
    assert mask.sum(1).tolist() == LENGTHS
    for i in range(4):
        n = LENGTHS[i]
        assert mx.array_equal(positions[i, :n], batch.get_points(i))
        assert not positions[i, n:].any().item() and not features[i, n:].any().item()
    again = kind.from_dense(positions, mask, features)
    assert mx.array_equal(again.positions, batch.positions)
    assert mx.array_equal(again.features, batch.features) and again.lengths.tolist() == LENGTHS
    same = kind.from_dense(positions, lengths=mx.array(LENGTHS))
    assert mx.array_equal(same.positions, batch.positions) and same.features is None
    assert kind.from_dense(positions).lengths.tolist() == [4] * 4
    assert batch.to_dense(6).shape == (4, 6, 3)
    assert mx.array_equal(batch.to_dense(2), positions[:, :2])
    holes = mx.array([[True, False, True]])
    assert kind.from_dense(mx.arange(3.0).reshape(1, 3, 1), holes).positions.tolist() == [[0], [2]]
    gradient = mx.grad(lambda p: (batch.replace(p).to_dense() ** 2).sum())(batch.positions)
    assert mx.allclose(gradient, 2 * batch.positions)


@KINDS
@pytest.mark.parametrize(
    "which, numbers",
    [
        (2, [2]),
        (-1, [3]),
        (np.int64(0), [0]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice(3, 1), []),
        ([3, 0, 0], [3, 0, 0]),
        ([], []),
        ([True, False, True, False], [0, 2]),
        ("array", [2, 1]),
        (mx.array(3), [3]),
    ],
    ids=str,
)
def test_indexing(rng, kind, which, numbers):
    batch = make(kind, rng)
    chosen = batch[mx.array([2, 1]) if isinstance(which, str) else which]
    assert type(chosen) is kind and chosen.batch_size == len(numbers)
    assert chosen.lengths.tolist() == [LENGTHS[i] for i in numbers]
    for i, number in enumerate(numbers):
        assert mx.array_equal(chosen.get_points(i), batch.get_points(number))
        assert mx.array_equal(chosen.get_features(i), batch.get_features(number))


@KINDS
def test_iteration_and_concatenation(rng, kind):
    batch = make(kind, rng)
    again = kind.concatenate(list(batch) + [make(PointCloudBatch, rng).to_offsets()])
    assert type(again) is kind and again.lengths.tolist() == LENGTHS * 2
    assert mx.array_equal(again.positions[:8], batch.positions)
    assert mx.array_equal(again.features[:8], batch.features)


@KINDS
def test_neighbors_stay_in_their_cloud(rng, kind):
    batch = make(kind, rng)
    lengths = mx.array(LENGTHS)
    wanted = knn(batch.positions, batch.positions, 3, lengths, lengths)
    assert all(mx.array_equal(a, b).item() for a, b in zip(batch.knn(3), wanted))
    queries = batch.replace(batch.positions + 0.1)
    wanted = radius_search(batch.positions, queries.positions, 1.0, 4, lengths, lengths)
    got = batch.radius_search(1.0, 4, queries)
    assert all(mx.array_equal(a, b).item() for a, b in zip(got, wanted))
    with pytest.raises(ValueError, match="queries must have as many clouds, 4"):
        batch.knn(1, batch[:2])


# ---- subsampling ----


@pytest.mark.parametrize("lengths", [[200], [50, 0, 149, 1]])
def test_grid_subsample(rng, lengths):
    points = rng.uniform(-2, 2, (200, 3)).astype(np.float32)
    features = rng.standard_normal((200, 5)).astype(np.float32)
    cloud = np.repeat(np.arange(len(lengths)), lengths)
    places = np.column_stack([cloud, np.floor(points.astype(np.float64) / np.float32(0.9))])
    _, first, cells = np.unique(places, axis=0, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))  # cells are numbered by their first points
    wanted = ranks[cells.ravel()]
    got = grid_subsample(mx.array(points), 0.9, mx.array(features), mx.array(lengths), reduce="max")
    assert np.array_equal(np.array(got[3]), wanted)
    counts = [len(np.unique(wanted[cloud == i])) for i in range(len(lengths))]
    assert got[2].tolist() == counts
    for i in range(wanted.max() + 1):
        np.testing.assert_allclose(
            np.array(got[0][i]), points[wanted == i].mean(0), rtol=1e-5, atol=1e-6
        )
        assert np.array_equal(np.array(got[1][i]), features[wanted == i].max(0))
    thinned = PointCloudBatch(
        mx.array(points), mx.array(features), mx.array(lengths)
    ).grid_subsample(0.9, "max")
    assert thinned.lengths.tolist() == counts and mx.array_equal(thinned.features, got[1])


def test_grid_subsample_differentiates():
    points = mx.array([[0.1, 0.1], [0.2, 0.4], [5.0, 5.0]])
    gradient = mx.grad(lambda p: (grid_subsample(p, 1.0)[0] * mx.array([1.0, 2.0])).sum())(points)
    assert np.allclose(np.array(gradient), [[0.5, 1], [0.5, 1], [1, 2]])
    assert grid_subsample(mx.zeros((0, 3)), 1.0)[0].shape == (0, 3)


def test_errors_of_grid_subsample():
    points = mx.zeros((4, 3))
    for arguments, message in [
        ((points, 0.0), "Invalid size 0"),
        ((points, float("nan")), "Invalid size nan"),
        ((points[0], 1.0), "points must have shape"),
        ((points / 0, 1.0), "coordinate of point 0 is not finite"),
        ((points, 1.0, mx.zeros((3,))), "features must have as many rows"),
        ((points, 1.0, None, mx.array([3])), "lengths: its sum is 3"),
        ((points, 1.0, points, None, "median"), "reduce 'median'"),
    ]:
        with pytest.raises(ValueError, match=message):
            grid_subsample(*arguments)


# ---- trees ----


@KINDS
def test_gradients_are_batches(rng, kind):
    batch = make(kind, rng)

    def loss(clouds):
        assert type(clouds) is kind
        centres = clouds.segment_reduce(clouds.positions, "mean")
        return (centres**2).sum() + (clouds.features * 3).sum()

    value, gradient = mx.value_and_grad(loss)(batch)
    assert type(gradient) is kind and gradient.lengths.tolist() == LENGTHS
    plain = mx.grad(lambda p: loss(batch.replace(p, batch.features)))(batch.positions)
    assert mx.allclose(gradient.positions, plain)
    assert mx.allclose(gradient.features, mx.full((8, 2, 2), 3.0))
    assert value.item() == pytest.approx(loss(batch).item())
    moved = mlx.utils.tree_map(lambda a, b: a - 0.1 * b, batch, gradient)
    assert type(moved) is kind and loss(moved).item() < value.item()


@KINDS
def test_checkpoint_and_eval(rng, kind):
    batch = make(kind, rng)

    def doubled(clouds):
        return clouds.replace(clouds.positions * 2, clouds.features)

    def loss(clouds, f):
        return (f(clouds).positions ** 2).sum() + clouds.features.sum()

    plain, kept = (
        mx.grad(lambda c: loss(c, f))(batch)  # noqa: B023
        for f in (doubled, mx.checkpoint(doubled))
    )
    assert mx.allclose(plain.positions, kept.positions)
    lazy = doubled(batch)
    mx.eval(lazy, {"more": [doubled(lazy)]})
    assert mx.allclose(lazy.positions, 2 * batch.positions)
    assert [p for p, _ in mlx.utils.tree_flatten(batch)] == ["positions", "features"]
    bare = kind(batch.positions)
    assert mx.grad(lambda c: c.positions.sum())(bare).features is None


# ---- arguments ----


def test_errors():
    p, n = mx.zeros((4, 3)), mx.array
    calls = [
        (lambda: PointCloudBatch(p[0]), r"positions must have shape \(points, D\)"),
        (lambda: PointCloudBatch(p, mx.zeros((3, 2))), "features must have as many rows"),
        (lambda: PointCloudBatch(p, lengths=n([1, 2])), "lengths: their sum is 3.* 4 points"),
        (lambda: PointCloudBatch(p, lengths=n([-1, 5])), "lengths: they must not be negative"),
        (lambda: PointCloudBatch(p, lengths=n([4.0])), "lengths must be int32"),
        (lambda: PointCloudBatch(p, lengths=n([[4]])), "lengths must have one dimension"),
        (lambda: PointCloudBatch(p, indices=n([0, 1])), r"indices must have shape \(4,\)"),
        (lambda: PointCloudBatch(p, indices=n([0, 1, 0, 1])), "indices: they must .* ascending"),
        (lambda: PointCloudBatch(p, indices=n([-1, 0, 0, 1])), "indices: they must not be neg"),
        (
            lambda: PointCloudBatch(p, lengths=n([2, 2]), indices=n([0, 0, 0, 1])),
            "indices: they do not say what lengths say",
        ),
        (lambda: OffsetPointCloudBatch(p, offsets=n([0, 3])), "offsets: .* from 0 to 3"),
        (lambda: OffsetPointCloudBatch(p, offsets=n([1, 4])), "offsets: .* from 1 to 4"),
        (lambda: OffsetPointCloudBatch(p, offsets=n([0, 5, 4])), "offsets: .* never down"),
        (lambda: OffsetPointCloudBatch(p, offsets=n([], dtype=mx.int32)), "offsets must have"),
        (lambda: PointCloudBatch(p).gather_by_index(n([4])), r"idx: .* \[0, 4\)"),
        (lambda: PointCloudBatch(p).gather_by_index(n([-1])), "idx"),
        (lambda: PointCloudBatch(p).to_dense(-1), "max_len -1"),
        (lambda: PointCloudBatch(p).replace(p[:2]), "positions must have 4 rows"),
        (lambda: PointCloudBatch(p)[[True, False]], "A mask must have 1 values"),
        (lambda: PointCloudBatch.from_dense(p), "positions must have shape"),
        (lambda: PointCloudBatch.from_dense(p[None], n([[True]])), "mask must have shape"),
        (lambda: PointCloudBatch.from_dense(p[None], lengths=n([5])), "lengths must be 1 values"),
        (lambda: PointCloudBatch.concatenate([]), "at least one batch"),
        (
            lambda: PointCloudBatch.concatenate([PointCloudBatch(p), PointCloudBatch(p, p)]),
            "all batches must have features",
        ),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(IndexError, match="Cloud 1 is out of range: there are 1"):
        PointCloudBatch(p).get_points(1)
    with pytest.raises(TypeError, match="positions must be an array, not list"):
        PointCloudBatch([[1.0]])
