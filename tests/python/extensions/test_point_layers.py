"""Layers on point clouds against NumPy, and what must not matter: order, padding, transformations."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx_sample_extensions.nn as points
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map
from mlx_sample_extensions import OffsetPointCloudBatch, PointCloudBatch
from point_layers import CHANNELS, LAYERS, LENGTHS, batch_of, close, structure

each_layer = pytest.mark.parametrize("name", LAYERS)
KINDS = pytest.mark.parametrize("kind", [PointCloudBatch, OffsetPointCloudBatch])


def loss(layer, batch, **known):
    return (layer(batch, **known).features.astype(mx.float32) ** 2).sum()


# ---- neighbours and kernel cells ----


def padded_neighbors(places: np.ndarray, k: int, radius: float | None) -> list[np.ndarray]:
    """The neighbours of each point of one cloud, nearest first."""
    distances = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    found = [np.argsort(row, kind="stable")[:k] for row in distances]
    if radius is not None:
        found = [f[row[f] <= radius] for f, row in zip(found, distances)]
    return found


def cell_of(relative: np.ndarray, reach: float, side: int) -> int:
    place = np.clip(np.floor((relative + reach) * side / (2 * reach)), 0, side - 1).astype(int)
    return int(np.ravel_multi_index(tuple(place), (side,) * len(relative)))


@pytest.mark.parametrize("radius", [None, 0.9])
def test_triplets(rng, radius):
    batch = batch_of(rng)
    found = points.find_neighbors(batch, 6, radius=radius, kernel_offsets=27)
    i, j, k = (x.tolist() for x in (found.cells, found.points, found.queries))
    assert k == sorted(k) and found.n_points == found.n_queries == 40
    wanted = []
    for start, length in zip(np.cumsum([0, *LENGTHS]), LENGTHS):
        places = np.array(batch.positions[start : start + length], np.float64)
        for q, near in enumerate(padded_neighbors(places, 6, radius)):
            reach = radius or np.linalg.norm(places[near[-1]] - places[q])
            for p in near:
                cell = cell_of(places[p] - places[q], reach, 3)
                wanted.append((cell, start + p, start + q))
    assert list(zip(i, j, k)) == wanted
    assert found.lengths.tolist() == np.bincount(k, minlength=40).tolist()
    assert repr(found).startswith(f"Neighborhood({len(k)} pairs of 40 points and 40 outputs")


def test_neighbors_of_a_batch_are_found_once(rng):
    batch = batch_of(rng)
    found = points.find_neighbors(batch, 4)
    other = batch.replace(batch.positions, batch.features * 2)
    assert points.find_neighbors(other, 4) is found
    assert points.find_neighbors(batch, 4, radius=2.0) is not found
    assert points.find_neighbors(batch.replace(batch.positions + 1), 4) is not found
    encoder = points.PointCNNEncoder(CHANNELS, [4, 4], 0.5)
    assert encoder.levels(other) is encoder.levels(batch)
    assert points.PointCNNEncoder(CHANNELS, [4, 4], 0.9).levels(batch) is not encoder.levels(batch)


def test_kernels_of_other_dimensions(rng):
    flat = PointCloudBatch(mx.array([[0.0, 0], [1, 0], [0, 2]]))
    assert points.find_neighbors(flat, 3, kernel_offsets=9).cells.tolist() == [
        *(4, 7, 5),  # of the first: itself, what is right of it, what is above it
        *(4, 1, 2),
        *(4, 3, 6),
    ]
    same = PointCloudBatch(mx.zeros((3, 2)))
    assert set(points.find_neighbors(same, 3, kernel_offsets=9).cells.tolist()) == {4}


# ---- against NumPy on padded arrays ----


def numpy_padded(layer: nn.Module, batch) -> np.ndarray:
    """PointConv or PointCNNConv (its maximum) in double precision, cloud by cloud of padded arrays."""
    parameters = {k: np.array(v, np.float64) for k, v in tree_flatten(layer.parameters())}
    positions, features, mask = (np.array(x) for x in batch.to_padded())
    rows = []
    for places, x, there in zip(positions.astype(np.float64), features.astype(np.float64), mask):
        places, x = places[there], x[there]
        for q, near in enumerate(padded_neighbors(places, layer.k, layer.radius)):
            relative = places[near] - places[q]
            of_row = numpy_kernel if isinstance(layer, points.PointConv) else numpy_combination
            rows.append(of_row(layer, parameters, relative, x[near]))
    return np.array(rows)


def numpy_kernel(layer, parameters, relative, x):
    side = round(layer.kernel_offsets ** (1 / 3))
    reach = layer.radius or np.linalg.norm(relative[-1])
    total = np.array(parameters.get("bias", np.zeros(layer.out_channels)))
    for p, row in zip(relative, x):
        matrices = parameters["weight"][cell_of(p, reach, side)]
        total += np.einsum("gmc,gc->gm", matrices, row.reshape(layer.groups, -1)).ravel()
    return total


def numpy_combination(layer, parameters, relative, x):
    def linear(name, v):
        return v @ parameters[f"{name}.weight"].T + parameters.get(f"{name}.bias", 0)

    relative = relative / (layer.radius or 1)
    lifted = linear("lift.layers.2", np.maximum(linear("lift.layers.0", relative), 0))
    if layer.x_transformation:
        missing = layer.k - len(x)
        flat = np.pad(relative, ((0, missing), (0, 0))).ravel()
        matrix = linear("transform.layers.2", np.maximum(linear("transform.layers.0", flat), 0))
        rows = np.pad(np.concatenate([lifted, x], 1), ((0, missing), (0, 0)))
        return linear("out", (matrix.reshape(layer.k, layer.k) @ rows).ravel())
    hidden = np.maximum(linear("from_features", x) + linear("from_positions", lifted), 0)
    return getattr(np, layer.aggregation)(linear("out", hidden), 0)


@KINDS
@pytest.mark.parametrize("name", [n for n in LAYERS if n.split()[0] in ("kernel", "cnn", "x")])
def test_convolutions_are_those_of_padded_clouds(rng, name, kind):
    layer, batch = LAYERS[name](), batch_of(rng, kind)
    out = layer(batch)
    assert type(out) is kind and out.lengths.tolist() == LENGTHS
    assert out.positions is batch.positions
    assert np.abs(np.array(out.features) - numpy_padded(layer, batch)).max() < 1e-4


def test_norm_counts_points_only(rng):
    batch, norm = batch_of(rng), points.PointBatchNorm(CHANNELS)
    out = norm(batch)
    x = np.array(batch.features, np.float64)
    assert np.abs(np.array(out.features) - (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)).max() < 1e-5
    assert np.allclose(np.array(norm.running_mean), 0.1 * x.mean(0), atol=1e-6)
    assert np.allclose(np.array(norm.running_var), 0.9 + 0.1 * x.var(0, ddof=1), atol=1e-6)
    norm.eval()
    mean, var = np.array(norm.running_mean, np.float64), np.array(norm.running_var, np.float64)
    assert close(norm(batch).features, mx.array(((x - mean) / np.sqrt(var + 1e-5)), mx.float32))
    one = norm.train()(batch[[2]][:1].replace(mx.zeros((3, 3)), mx.ones((3, CHANNELS))))
    assert not one.features.any().item()
    single = PointCloudBatch(mx.zeros((1, 3)), mx.ones((1, CHANNELS)))
    assert not norm(single).features.any().item()
    assert mx.isfinite(norm.running_var).all().item()
    assert "running_mean" not in dict(tree_flatten(norm.trainable_parameters()))


def test_pooling(rng):
    batch = batch_of(rng)
    features, _, mask = np.array(batch.to_padded()[1]), None, np.array(batch.to_padded()[2])
    wanted = [
        np.concatenate([f[m].max(0), f[m].mean(0)]) if m.any() else np.zeros(2 * CHANNELS)
        for f, m in zip(features, mask)
    ]
    got = points.GlobalPool(["max", "mean"])(batch)
    assert np.allclose(np.array(got), wanted, atol=1e-6)
    assert repr(points.GlobalPool("sum")) == "GlobalPool(sum)"


def test_interpolation(rng):
    source, target = batch_of(rng), batch_of(rng, lengths=[5, 4, 3, 0])
    got = np.array(points.interpolate(source, target))
    begin = np.cumsum([0, *LENGTHS])
    places, x = np.array(source.positions, np.float64), np.array(source.features, np.float64)
    queries = np.array(target.positions, np.float64)
    for row, cloud in enumerate(target.indices.tolist()):
        own = slice(begin[cloud], begin[cloud + 1])
        squares = ((places[own] - queries[row]) ** 2).sum(1)
        near = np.argsort(squares)[:3]
        weights = 1 / squares[near]
        wanted = (weights[:, None] * x[own][near]).sum(0) / weights.sum() if len(near) else 0
        assert np.abs(got[row] - wanted).max() < 1e-4
    # A point of the source has its own features.
    assert close(points.interpolate(source, source), source.features)


@each_layer
def test_each_cloud_alone_gives_the_same(rng, name):
    layer, batch = LAYERS[name]().eval(), batch_of(rng)
    alone = [layer(cloud).features for cloud in batch]
    assert close(layer(batch).features, mx.concatenate(alone))


@each_layer
def test_order_does_not_matter(rng, name):
    layer, batch = LAYERS[name](), batch_of(rng)
    out = layer(batch)
    pooled = out.batch_size == 1  # a row a cloud
    turn = mx.array([2, 3, 0, 1])
    turned = out.features[turn] if pooled else out[turn].features
    assert close(layer(batch[turn]).features, turned)

    begin = np.cumsum([0, *LENGTHS])
    order = np.concatenate([a + rng.permutation(n) for a, n in zip(begin, LENGTHS)])
    order = mx.array(order.astype(np.int32))
    mixed = layer(batch._with_rows(order, batch.lengths)).features
    assert close(mixed, out.features if pooled else out.features[order])


# ---- transformations ----


@KINDS
@each_layer
def test_transformations(rng, name, kind):
    layer, batch = LAYERS[name](), batch_of(rng, kind)
    known = structure(layer, batch)
    value, gradient = nn.value_and_grad(layer, loss)(layer, batch)
    by_batch = mx.grad(lambda b: loss(layer, b))(batch)
    assert type(by_batch) is kind and by_batch.features.shape == batch.features.shape
    assert by_batch.features.abs().sum().item() > 0

    def compiled(batch, known):
        return nn.value_and_grad(layer, loss)(layer, batch, **known)

    state = [layer.state]
    compiled = partial(mx.compile, inputs=state, outputs=state)(compiled)
    saved = nn.utils.checkpoint(layer, lambda b: loss(layer, b))
    for other in (
        compiled(batch, known),
        nn.value_and_grad(layer, saved)(batch),
    ):
        assert close(other[0], value)
        for (path, got), (_, wanted) in zip(tree_flatten(other[1]), tree_flatten(gradient)):
            assert close(got, wanted), path
    kept = mx.grad(mx.checkpoint(lambda b: loss(layer, b)))(batch)
    assert close(kept.features, by_batch.features) and close(kept.positions, by_batch.positions)
    mx.eval(layer.state)


def test_compiled_functions_see_new_clouds(rng):
    """Other lengths with the same shapes: they come with the levels."""
    layer = LAYERS["encoder"]().eval()
    run = mx.compile(lambda batch, levels: layer(batch, levels).features)
    for lengths in (LENGTHS, LENGTHS[::-1], [10, 10, 10, 10]):
        batch = batch_of(rng, lengths=lengths)
        assert close(run(batch, layer.levels(batch)), layer(batch).features)


@each_layer
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_half_precision(rng, name, dtype):
    layer, batch = LAYERS[name](), batch_of(rng)
    layer.set_dtype(dtype)
    half = batch.replace(batch.positions, batch.features.astype(dtype))
    out = layer(half)
    assert out.features.dtype == dtype
    gradient = mx.grad(lambda b: loss(layer, b))(half)
    assert gradient.features.dtype == dtype and mx.isfinite(gradient.features).all().item()
    layer.set_dtype(mx.float32)  # the rounded weights
    wanted = layer(batch.replace(batch.positions, half.features.astype(mx.float32)))
    assert close(out.features, wanted.features, 0.1 if dtype == mx.bfloat16 else 0.02)


def test_half_precision_sums_are_of_single_precision(rng):
    """2049 ones: float16 would stop at 2048."""
    batch = PointCloudBatch(mx.zeros((2049, 3)), mx.ones((2049, 1), mx.float16))
    layer = points.PointConv(1, 1, k=2049, bias=False)
    layer.weight = mx.ones(layer.weight.shape, mx.float16) / 64
    queries = PointCloudBatch(mx.zeros((1, 3)))
    assert layer(batch, queries).features.item() == pytest.approx(2049 / 64, rel=5e-4)
    assert points.GlobalPool("mean")(batch).item() == 1
    norm = points.PointBatchNorm(1)
    norm(batch)
    assert norm.running_mean.item() == pytest.approx(0.1)


@each_layer
def test_no_points_at_all(name):
    layer = LAYERS[name]()
    empty = PointCloudBatch(mx.zeros((0, 3)), mx.zeros((0, CHANNELS)), mx.array([0, 0]))
    value, gradient = nn.value_and_grad(layer, loss)(layer, empty)
    assert value.item() == 0
    assert not any(mx.any(g).item() for _, g in tree_flatten(gradient))


def test_queries_elsewhere(rng):
    """Also in clouds without points."""
    batch, queries = batch_of(rng), batch_of(rng, lengths=[2, 3, 0, 1])
    for name in ("kernel", "cnn", "x"):
        layer = LAYERS[name]()
        out = layer(batch, queries)
        assert out.features.shape == (6, 6) and out.lengths.tolist() == [2, 3, 0, 1]
        known = layer.neighborhood(batch, queries)
        assert mx.array_equal(layer(batch, queries, known).features, out.features)
        if name == "kernel":
            assert mx.array_equal(out.features[2:5], mx.zeros((3, 6)))
        if name == "cnn":
            assert not out.features[2:5].any().item()
    nothing = PointCloudBatch(mx.zeros((0, 3)), mx.zeros((0, CHANNELS)), mx.array([0]))
    out = LAYERS["x"]()(nothing, PointCloudBatch(mx.zeros((2, 3))))
    assert out.features.shape == (2, 6) and mx.isfinite(out.features).all().item()


@pytest.mark.cpu_kernels
def test_memory_of_the_convolution_is_not_that_of_all_products():
    """No array of T x M x C, nor one of T x C, is made."""
    points_, channels, k = 2000, 64, 16
    batch = PointCloudBatch(mx.random.normal((points_, 3)), mx.random.normal((points_, channels)))
    layer = points.PointConv(channels, channels, k=k)
    layer.neighborhood(batch)
    mx.eval(layer.state, batch)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(nn.value_and_grad(layer, loss)(layer, batch))
    used = mx.get_peak_memory() - before
    assert used < 4 * points_ * k * channels  # bytes of T x C


# ---- arguments ----


def test_errors(rng):
    batch = batch_of(rng)
    bare = PointCloudBatch(batch.positions)
    other = points.find_neighbors(batch[:1], 4)
    conv, cnn = points.PointConv, points.PointCNNConv
    encoder = points.PointCNNEncoder
    flat = PointCloudBatch(mx.zeros((4, 2)), mx.zeros((4, CHANNELS)))
    calls = [
        (lambda: conv(0, 4), "in_channels 0: it must be a positive integer"),
        (lambda: conv(4, 6, groups=4), r"groups \(4\) must divide in_channels \(4\)"),
        (lambda: conv(4, 6, 26)(batch), "kernel_offsets 26.* 3 coordinates"),
        (lambda: conv(3, 6)(batch), r"features must have shape \(points, 3\), but they have"),
        (lambda: conv(4, 6)(bare), "but there are none"),
        (lambda: conv(4, 6)(batch, neighbors=other), "neighbors must be of 40 points"),
        (lambda: conv(4, 6)(batch, neighbors=points.find_neighbors(batch, 4)), "kernel cells"),
        (lambda: conv(4, 6)(batch, bare[:2]), "queries must have as many clouds as source, 4"),
        (
            lambda: conv(4, 6)(batch.replace(batch.positions, mx.zeros((40, 4), mx.int32))),
            "features must be floats",
        ),
        (lambda: cnn(4, 6, k=0), "k 0"),
        (lambda: cnn(4, 6, aggregation="median"), "aggregation 'median'"),
        (lambda: cnn(4, 6)(flat), r"positions must have shape \(points, 3\)"),
        (lambda: points.find_neighbors(batch, 4, radius=-1.0), "radius -1.0"),
        (lambda: points.find_neighbors(batch, True), "k True"),
        (lambda: points.GlobalPool("median"), "operations 'median'"),
        (lambda: points.GlobalPool()(bare), "must have features"),
        (lambda: points.interpolate(bare, batch), "source must have features"),
        (lambda: encoder(4, [], 1.0), "at least one level"),
        (lambda: encoder(4, [4, 4], [1.0, 2.0]), "one number fewer than channels, 1, but .* 2"),
        (lambda: encoder(4, [4, 4], 0.0), "grid_sizes"),
        (lambda: encoder(4, [4, 4], 1.0, reduce="prod"), "reduce 'prod'"),
        (lambda: encoder(4, [4, 4], 1.0)(batch, encoder(4, [4], []).levels(batch)), "2 levels"),
        (lambda: points.PointCNNDecoder([]), "at least one level"),
        (lambda: points.PointUNet(4, 3, [4, 4], 1.0)(batch[:0].concatenate([bare])), "none"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    unet = points.PointUNet(4, 3, [4, 4], 1.0)
    with pytest.raises(ValueError, match="levels with 1 upwards"):
        unet(batch, unet.encoder.levels(batch))
    for layer in (conv(4, 6), points.PointBatchNorm(4), points.GlobalPool(), unet):
        with pytest.raises(TypeError, match="must be a PointCloudBatch"):
            layer(batch.features)


def test_layers_have_texts():
    text = repr(points.PointUNet(4, 3, [4, 4], 1.0, partial(points.PointConv, k=8)))
    assert "PointConv(4, 4, kernel_offsets=27, groups=1, k=8" in text
    assert "grid_sizes=[1.0], reduce='max'" in text
    assert tree_map(lambda p: p.dtype, points.PointConv(2, 2).parameters()) == {
        "weight": mx.float32,
        "bias": mx.float32,
    }
