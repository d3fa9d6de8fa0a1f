"""Operations that make, rearrange, concatenate, split, select and sort arrays, against NumPy."""

import mlx.core as mx
import numpy as np
import pytest
from test_ops import INTS, SIGNED, close


def test_creation():
    assert mx.arange(5).tolist() == [0, 1, 2, 3, 4] and mx.arange(5).dtype == mx.int32
    assert mx.arange(1, 2, 0.25).tolist() == [1, 1.25, 1.5, 1.75]
    assert (
        mx.arange(5, 0, -2).tolist() == [5, 3, 1] and mx.arange(3, dtype=mx.uint8).dtype == mx.uint8
    )
    assert mx.arange(2, stop=4).tolist() == [2, 3] and mx.arange(2, None).tolist() == [0, 1]
    close(mx.linspace(0, 1, 5), np.linspace(0, 1, 5))
    close(mx.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False))
    assert mx.full((2, 2), 3).dtype == mx.int32 and mx.full(2, mx.array([1.0, 2.0])).tolist() == [
        1,
        2,
    ]
    assert mx.zeros(3).dtype == mx.float32 and mx.ones((2,), mx.int8).tolist() == [1, 1]
    assert mx.zeros_like(mx.ones((2,), mx.int8)).dtype == mx.int8
    assert mx.full_like(mx.ones((2,), mx.int8), 2).tolist() == [2, 2]
    for k in (-1, 0, 2):
        close(mx.eye(3, 4, k), np.eye(3, 4, k))
        close(mx.tri(3, 4, k), np.tri(3, 4, k))
        close(mx.tril(mx.array(SIGNED), k), np.tril(SIGNED, k))
        close(mx.triu(mx.array(SIGNED), k), np.triu(SIGNED, k))
    close(mx.identity(3), np.identity(3))
    for name in ("bartlett", "hanning", "hamming", "blackman"):
        for size in (0, 1, 2, 5, 8, 101):
            close(getattr(mx, name)(size), getattr(np, name)(size), atol=1e-6)
        assert getattr(mx, name)(3, stream=mx.cpu).dtype == mx.float32


def test_new_arrays_of_any_values():
    assert mx.empty((2, 3)).shape == (2, 3) and mx.empty(4, mx.int8).dtype == mx.int8
    like = mx.empty_like(mx.zeros((2, 3), mx.float16))
    assert like.shape == (2, 3) and like.dtype == mx.float16


def test_shapes():
    a = mx.array(INTS)
    assert mx.reshape(a, (12, -1)).shape == (12, 5) and mx.flatten(a, 1).shape == (3, 20)
    assert mx.unflatten(a, 2, (5, 1)).shape == (3, 4, 5, 1) and mx.squeeze(a[:1]).shape == (4, 5)
    assert mx.expand_dims(a, (0, -1)).shape == (1, 3, 4, 5, 1)
    for axes in (None, (2, 0, 1), (-1, 0, 1)):
        assert np.array_equal(np.array(mx.transpose(a, axes)), np.transpose(INTS, axes))
    assert np.array_equal(np.array(mx.moveaxis(a, 0, -1)), np.moveaxis(INTS, 0, -1))
    assert np.array_equal(np.array(mx.swapaxes(a, 0, 1)), np.swapaxes(INTS, 0, 1))
    for axis in (None, 0, (0, 2)):
        assert np.array_equal(np.array(mx.flip(a, axis)), np.flip(INTS, axis))
    assert np.array_equal(np.array(mx.roll(a, 7)), np.roll(INTS, 7))
    assert np.array_equal(np.array(mx.roll(a, (1, -2), (0, 2))), np.roll(INTS, (1, -2), (0, 2)))
    assert np.array_equal(np.array(mx.tile(a, (2, 1, 1, 2))), np.tile(INTS, (2, 1, 1, 2)))
    assert np.array_equal(np.array(mx.diagonal(a, 1, 0, 2)), np.diagonal(INTS, 1, 0, 2))
    assert mx.diag(mx.array([1, 2]), 1).tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert mx.trace(a[0]).item() == np.trace(INTS[0])
    assert mx.as_strided(mx.arange(10), (3, 2), (2, 1), 1).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert mx.broadcast_shapes((2, 1), (3,), (1, 1, 1)) == (1, 2, 3)
    assert mx.view(mx.array([1.0]), mx.int32).item() == 0x3F800000
    assert mx.contiguous(a.T).tolist() == INTS.T.tolist()
    assert mx.atleast_2d(mx.array(1)).shape == (1, 1)
    x, y = mx.atleast_1d(mx.array(1), mx.array([2]))
    assert x.shape == y.shape == (1,)


def test_matrix_transpose():
    x = mx.arange(24).reshape(2, 3, 4)
    want = np.swapaxes(np.array(x), -1, -2)
    for got in (mx.matrix_transpose(x), mx.matrix_transpose(x, stream=mx.cpu), x.mT):
        np.testing.assert_array_equal(np.array(got), want)
    for bad in (mx.array(1), mx.arange(3)):
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            mx.matrix_transpose(bad)
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            _ = bad.mT


def test_joining_and_splitting():
    a, b = mx.array(INTS), mx.array(INTS + 1)
    for axis in (0, 1, -1, None):
        assert np.array_equal(
            np.array(mx.concatenate([a, b], axis)), np.concatenate([INTS, INTS + 1], axis)
        )
    for axis in (0, 3, -1):
        assert np.array_equal(np.array(mx.stack([a, b], axis)), np.stack([INTS, INTS + 1], axis))
    assert mx.concatenate((mx.ones(1, mx.int8), mx.ones(1))).dtype == mx.float32
    parts = mx.split(a, [1, 3], axis=1)
    assert isinstance(parts, list) and [p.shape for p in parts] == [(3, 1, 5), (3, 2, 5), (3, 1, 5)]
    assert [u.tolist() for u in mx.unstack(a, axis=1)] == [INTS[:, i].tolist() for i in range(4)]
    for sparse in (False, True):
        for indexing in ("xy", "ij"):
            ours = mx.meshgrid(mx.arange(2), mx.arange(3), sparse=sparse, indexing=indexing)
            expected = np.meshgrid(np.arange(2), np.arange(3), sparse=sparse, indexing=indexing)
            assert all(np.array_equal(np.array(o), e) for o, e in zip(ours, expected, strict=True))
    x, y = mx.broadcast_arrays(mx.ones((2, 1)), mx.ones(3))
    assert x.shape == y.shape == (2, 3)


def test_repeat():
    a = mx.array([[1, 2], [3, 4]])
    assert mx.repeat(a, 2).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert mx.repeat(a, 2, axis=1).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert mx.repeat(mx.arange(3), mx.array([2, 0, 3])).tolist() == [0, 0, 2, 2, 2]
    assert mx.repeat(a, mx.array([1, 2]), axis=0).tolist() == [[1, 2], [3, 4], [3, 4]]
    assert mx.repeat(a, [0, 1], axis=1).tolist() == [[2], [4]]
    assert mx.repeat(a, mx.array(2), axis=0).shape == (4, 2)


def test_pad():
    x = INTS[0]
    for width in (1, (2, 1), [(1, 0), (0, 2)]):
        assert np.array_equal(np.array(mx.pad(mx.array(x), width)), np.pad(x, width))
        assert np.array_equal(
            np.array(mx.pad(mx.array(x), width, constant_values=7)),
            np.pad(x, width, constant_values=7),
        )
        for mode in ("edge", "reflect", "symmetric"):
            assert np.array_equal(
                np.array(mx.pad(mx.array(x), width, mode=mode)), np.pad(x, width, mode=mode)
            )
    assert mx.pad(mx.array(3), []).item() == 3  # a pair for each of no axes


def test_selection():
    x = mx.array(SIGNED)
    close(mx.where(x > 0, x, 0), np.where(SIGNED > 0, SIGNED, 0))
    close(mx.where(True, 1.0, x), np.ones_like(SIGNED))
    close(mx.clip(x, -1, mx.array(0.5)), np.clip(SIGNED, -1, 0.5))
    close(mx.clip(x, None, 1), np.minimum(SIGNED, 1))
    assert np.array_equal(
        np.array(mx.take(mx.array(INTS), mx.array([[0, 2]]), 1)), np.take(INTS, [[0, 2]], 1)
    )
    assert np.array_equal(
        np.array(mx.take(mx.array(INTS), mx.array([7, 3]))), np.take(INTS, [7, 3])
    )
    order = np.argsort(INTS, 1)
    assert np.array_equal(
        np.array(mx.take_along_axis(mx.array(INTS), mx.array(order), 1)), np.sort(INTS, 1)
    )
    put = INTS.copy()
    np.put_along_axis(put, order[:, :1], 99, 1)
    assert np.array_equal(
        np.array(mx.put_along_axis(mx.array(INTS), mx.array(order[:, :1]), 99, 1)), put
    )
    assert mx.slice(mx.arange(10), mx.array([3]), (0,), (2,)).tolist() == [3, 4]
    assert mx.slice_update(mx.zeros(4), mx.ones(2), mx.array([1]), (0,)).tolist() == [0, 1, 1, 0]
    # An update is broadcast along the axes that have no start.
    zeros = mx.zeros((2, 3))
    row = mx.slice_update(zeros, mx.array(9.0), mx.array([1]), (0,))
    assert row.tolist() == [[0, 0, 0], [9, 9, 9]]
    column = mx.slice_update(zeros, mx.array([9.0]), mx.array([2]), (1,))
    assert column.tolist() == [[0, 0, 9], [0, 0, 9]]
    element = mx.slice_update(zeros, mx.array([[9.0]]), mx.array([1, 1]), (0, 1))
    assert element.tolist() == [[0, 0, 0], [0, 9, 0]]


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sorting(axis):
    a = mx.array(INTS)
    assert np.array_equal(np.array(mx.sort(a, axis)), np.sort(INTS, axis))
    order = np.array(mx.argsort(a, axis))
    source = INTS.ravel() if axis is None else INTS
    assert np.array_equal(
        np.take_along_axis(source, order, axis or 0)
        if axis != -1
        else np.take_along_axis(source, order, -1),
        np.sort(INTS, axis),
    )
    k = 2
    part = np.array(mx.partition(a, k, axis))
    along = -1 if axis is None else axis
    assert np.array_equal(np.take(part, k, along), np.take(np.sort(INTS, axis), k, along))
    top = np.sort(np.array(mx.topk(a, k, axis)), along)
    assert np.array_equal(top, np.take(np.sort(INTS, axis), [-2, -1], along))


def test_searchsorted():
    s, v = np.array([1, 2, 2, 5]), np.array([0, 2, 3, 9])
    for side in ("left", "right"):
        assert np.array_equal(
            np.array(mx.searchsorted(mx.array(s), mx.array(v), side)), np.searchsorted(s, v, side)
        )


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64, np.complex64])
@pytest.mark.parametrize("length", range(2, 10))
def test_short_rows(length, dtype):
    """Rows of a few elements: repeated, out of several lines, and out of longer rows."""
    rng = np.random.default_rng(length)
    for shape in [(100,), (7, 50), (3, 33, 40), (2, 3, 4, 35), (31,)]:
        x = rng.integers(0, 100, shape).astype(dtype)
        lines = rng.integers(0, 100, (length, *shape)).astype(dtype)
        rows = rng.integers(0, 100, (*shape, length + 3)).astype(dtype)
        a = mx.array(rows)
        pairs = [
            (mx.repeat(mx.array(x), length, axis=-1), np.repeat(x, length, -1)),
            (mx.contiguous(mx.moveaxis(mx.array(lines), 0, -1)), np.moveaxis(lines, 0, -1)),
            (mx.contiguous(a[..., 1 : length + 1]), rows[..., 1 : length + 1]),
            (mx.contiguous(a[..., length::-1]), rows[..., length::-1]),
            (
                mx.concatenate([a[..., :length]] * 2, -1),
                np.concatenate([rows[..., :length]] * 2, -1),
            ),
        ]
        for found, wanted in pairs:
            assert np.array_equal(np.array(found), wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64, np.complex64])
def test_reversed_rows(dtype):
    rng = np.random.default_rng(0)
    for shape in [(1000,), (7, 50), (3, 33, 40), (2, 3, 4, 35), (2, 1, 3, 2, 2, 33)]:
        x = rng.integers(0, 100, shape).astype(dtype)
        a = mx.array(x)
        back = slice(None, None, -1)
        indices = [(..., back), (back,), (..., slice(5, None, -1))]
        for index in indices + [(back, ..., back)] * (x.ndim > 1):
            assert np.array_equal(np.array(mx.contiguous(a[index])), x[index])
