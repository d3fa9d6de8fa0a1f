"""Clouds from files, their batches, and random changes to them."""

import sys

import mlx.core as mx
import numpy as np
import pytest
from mlx_sample_extensions import OffsetPointCloudBatch, PointCloudBatch
from mlx_sample_extensions.data import (
    Cloud,
    batches,
    drop_points,
    jitter,
    read_npz,
    read_off,
    read_ply,
    rotate,
    scale,
)
from point_layers import LENGTHS, batch_of, close

KEY = mx.random.key(3)
KINDS = pytest.mark.parametrize("kind", [PointCloudBatch, OffsetPointCloudBatch])


def clouds_of(rng: np.random.Generator, labels: str) -> list[Cloud]:
    clouds = []
    for number, length in enumerate([3, 0, 5, 2, 4]):
        values = mx.array(rng.standard_normal((length, 4)).astype(np.float32))
        label = {"cloud": number, "point": mx.full((length,), number), "no": None}[labels]
        clouds.append(Cloud(values[:, :3], values, label))
    return clouds


# ---- batches ----


@pytest.mark.parametrize("labels", ["cloud", "point", "no"])
def test_batches(rng, labels):
    clouds = clouds_of(rng, labels)
    whole = list(batches(clouds, 2))
    assert [batch.lengths.tolist() for batch, _ in whole] == [[3, 0], [5, 2], [4]]
    assert mx.array_equal(
        mx.concatenate([batch.features for batch, _ in whole]),
        mx.concatenate([cloud.features for cloud in clouds]),
    )
    wanted = {
        "cloud": [[0, 1], [2, 3], [4]],
        "point": [[0, 0, 0], [2, 2, 2, 2, 2, 3, 3], [4] * 4],
        "no": [None] * 3,
    }[labels]
    assert [None if label is None else label.tolist() for _, label in whole] == wanted
    assert len(list(batches(clouds, 2, drop_last=True))) == 2
    assert not list(batches([], 2, key=KEY))


def test_keys_decide_on_the_order(rng):
    clouds = clouds_of(rng, "cloud")

    def order(key) -> list[int]:
        return [n for _, labels in batches(clouds, 2, key=key) for n in labels.tolist()]

    first = order(KEY)
    assert sorted(first) == [0, 1, 2, 3, 4] and first == order(mx.random.key(3))
    assert len({tuple(order(mx.random.key(i))) for i in range(5)}) > 1


def test_errors_of_batches(rng):
    clouds = clouds_of(rng, "cloud")
    for call, message in [
        (lambda: batches(clouds, 0), "batch_size 0"),
        (lambda: batches([*clouds, clouds[0]._replace(label=None)], 2), "cloud 5 differs"),
        (lambda: batches([*clouds, clouds[0]._replace(features=None)], 2), "cloud 5 differs"),
        (lambda: batches([clouds[0]._replace(label=mx.zeros((2,)))], 2), r"label of cloud 0 .*\(3"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


# ---- random changes ----


@KINDS
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_rotations(rng, kind, axis):
    batch = batch_of(rng, kind)
    turned = rotate(batch, axis=axis, key=KEY)
    assert type(turned) is kind and turned.lengths.tolist() == LENGTHS
    assert turned.features is batch.features
    for i in (0, 2, 3):
        before = np.array(batch.get_points(i), np.float64)
        after = np.array(turned.get_points(i), np.float64)
        # One rotation for the cloud: the best linear map is orthogonal and keeps orientation.
        matrix = np.linalg.lstsq(before, after, rcond=None)[0]
        assert np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-4)
        assert np.linalg.det(matrix) == pytest.approx(1, abs=1e-4)
        assert np.allclose(before @ matrix, after, atol=1e-4)
        if axis is not None:
            assert np.allclose(before[:, axis], after[:, axis], atol=1e-6)
        assert not np.allclose(before, after, atol=1e-2)
    assert mx.array_equal(rotate(batch, axis=axis, key=KEY).positions, turned.positions)


def test_rotations_are_evenly_distributed():
    batch = PointCloudBatch(
        mx.broadcast_to(mx.array([0.0, 0, 1]), (20_000, 3)), lengths=mx.ones(20_000, mx.int32)
    )
    ends = np.array(rotate(batch, key=KEY).positions)
    assert np.abs(ends.mean(0)).max() < 0.02 and np.abs((ends**2).mean(0) - 1 / 3).max() < 0.02
    small = np.array(rotate(batch, axis=0, largest=0.1, key=KEY).positions)
    assert np.abs(np.arcsin(small[:, 1])).max() <= 0.1001


def test_turns_in_the_plane():
    batch = PointCloudBatch(mx.array([[2.0, 0], [0, 2]]))
    turned = np.array(rotate(batch, largest=0.2, key=KEY).positions)
    angle = np.arctan2(turned[0, 1], turned[0, 0])
    assert 0 < abs(angle) <= 0.2
    assert np.allclose(turned[1], [-2 * np.sin(angle), 2 * np.cos(angle)], atol=1e-6)


@KINDS
def test_scale_and_jitter(rng, kind):
    batch = batch_of(rng, kind)
    scaled = scale(batch, 0.5, 2.0, key=KEY)
    ratios = np.array(scaled.positions / batch.positions)
    factors = [ratios[np.array(batch.indices) == i] for i in (0, 2, 3)]
    assert all(np.ptp(f) < 1e-5 and 0.5 <= f[0, 0] <= 2 for f in factors)
    assert len({round(float(f[0, 0]), 4) for f in factors}) == 3
    moved = np.array(jitter(batch, 0.1, 0.15, key=KEY).positions - batch.positions)
    assert 0.05 < moved.std() < 0.12 and np.abs(moved).max() <= 0.1501
    assert close(jitter(batch, 0.0).positions, batch.positions, 1e-6)


@KINDS
def test_dropped_points(rng, kind):
    batch = batch_of(rng, kind, lengths=[400, 0, 3, 600])
    fewer, kept = drop_points(batch, 0.3, key=KEY)
    assert type(fewer) is kind and kept.dtype == mx.int32
    assert mx.array_equal(fewer.features, batch.features[kept])
    assert mx.array_equal(fewer.positions, batch.positions[kept])
    assert fewer.lengths.sum().item() == len(kept) == fewer.total_points
    counts = fewer.lengths.tolist()
    assert 0.6 < counts[0] / 400 < 0.8 and counts[1] == 0 and 0.6 < counts[3] / 600 < 0.8
    clouds = batch.indices[kept].tolist()
    assert [clouds.count(i) for i in range(4)] == counts
    assert drop_points(batch, 0.999, key=KEY)[0].lengths[mx.array([0, 2, 3])].min().item() >= 1
    assert drop_points(batch, 0.0)[0].lengths.tolist() == [400, 0, 3, 600]
    nothing = PointCloudBatch(mx.zeros((0, 3)), lengths=mx.array([0]))
    for change in (lambda b: drop_points(b, 0.5)[0], rotate, lambda b: jitter(b, 1.0)):
        assert change(nothing).total_points == 0


def test_errors_of_changes(rng):
    batch = batch_of(rng)
    for call, message in [
        (lambda: rotate(PointCloudBatch(mx.zeros((2, 4)))), "2 or 3 coordinates"),
        (lambda: rotate(batch, axis=3), "axis 3"),
        (lambda: rotate(PointCloudBatch(mx.zeros((2, 2))), axis=0), "axis 0"),
        (lambda: scale(batch, 2.0, 1.0), "factors 2.0 and 1.0"),
        (lambda: jitter(batch, -1.0), "deviation -1.0"),
        (lambda: drop_points(batch, 1.0), "share 1.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


# ---- files ----

PLY = """ply
format ascii 1.0
element vertex 2
property float x
property float y
property float z
property uchar red
property list uchar int tags
property float heat
element face 0
property list uchar int vertex_indices
end_header
1 2 3 255 1 7 0.5
4 5 6 0 2 8 9 1.5
"""
OFF = "OFF\n4 2 0\n0 0 0\n2 0 0\n2 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"


def test_ply(tmp_path):
    pytest.importorskip("plyfile", reason="plyfile is not installed")
    path = tmp_path / "cloud.ply"
    path.write_text(PLY)
    cloud = read_ply(path)
    assert cloud.positions.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert cloud.features.tolist() == [[255, 0.5], [0, 1.5]] and cloud.label is None
    assert read_ply(str(path), ["heat"]).features.tolist() == [[0.5], [1.5]]
    assert read_ply(path, []).features is None
    with pytest.raises(ValueError, match="have no 'blue'"):
        read_ply(path, ["blue"])
    path.write_text(PLY.replace("vertex 2", "corner 2"))
    with pytest.raises(ValueError, match="has no vertices"):
        read_ply(path)
    path.write_text("nothing")
    with pytest.raises(ValueError, match="is no PLY file"):
        read_ply(path)
    with pytest.raises(FileNotFoundError):
        read_ply(tmp_path / "none.ply")


def test_off(tmp_path):
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "mesh.off"
    path.write_text(OFF)
    assert read_off(path).positions.tolist() == [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]]
    drawn = np.array(read_off(path, 1000, seed=1).positions)
    assert drawn.shape == (1000, 3) and drawn.dtype == np.float32
    assert np.abs(drawn.mean(0) - [1, 0.5, 0]).max() < 0.1 and drawn.max() <= 2
    assert np.array_equal(drawn, np.array(read_off(path, 1000, seed=1).positions))
    path.write_text("OFF\n2 0 0\n0 0 0\n1 1 1\n")
    assert read_off(path).positions.shape == (2, 3)
    with pytest.raises(ValueError, match="no surface"):
        read_off(path, 10)
    with pytest.raises(ValueError, match="samples -1"):
        read_off(path, -1)
    for text in ("nothing", "OFF\n", "OFF\n1 0 0\n", "OFF\n2 0 0\n0 0 zero\n1 1 1\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="is no OFF file"):
            read_off(path)


def test_npz(tmp_path, rng):
    path = tmp_path / "cloud.npz"
    positions, features = rng.standard_normal((4, 3)).astype(np.float32), np.ones((4, 2), np.int8)
    np.savez(path, positions=positions, features=features, label=np.int64(7))
    cloud = read_npz(path)
    assert np.array_equal(np.array(cloud.positions), positions) and cloud.label == 7
    assert cloud.features.dtype == mx.int8
    np.savez(path, positions=positions, label=np.arange(4))
    assert read_npz(path).label.tolist() == [0, 1, 2, 3] and read_npz(path).features is None
    for arrays, message in [
        ({"points": positions}, r"has no positions, but \['points'\]"),
        ({"positions": positions[0]}, r"shape \(N, D\)"),
        ({"positions": positions, "features": features[:2]}, "features .* 4 rows, not 2"),
    ]:
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=message):
            read_npz(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is no NPZ file"):
        read_npz(path)


@pytest.mark.parametrize("read, module", [(read_ply, "plyfile"), (read_off, "trimesh")])
def test_libraries_that_lack(monkeypatch, tmp_path, read, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"{module} is needed: pip install {module}"):
        read(tmp_path / "file")
