"""Sorting and partitioning beside NumPy: every type, strided lines, NaNs, infinities and zeros."""

import mlx.core as mx
import numpy as np
import pytest

TYPES = [
    *("bool_", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64"),
]
# Lines that are too short for vector code, at its limit, and long.
SHAPES = [((3, 5), -1), ((7, 130), 0), ((7, 130), 1), ((2, 64, 3), 1), ((1,), 0), ((20000,), 0)]


def to_numpy(a: mx.array) -> np.ndarray:
    return np.array(a.astype(mx.float32) if a.dtype == mx.bfloat16 else a)


def make_array(dtype: str, shape: tuple[int, ...], rounded: bool) -> mx.array:
    """Random numbers; rounded ones have many equal elements."""
    random = np.random.default_rng(len(shape) + shape[0])
    x = random.integers(-9, 9, shape) if rounded else random.standard_normal(shape) * 1000
    if dtype == "complex64":
        x = x + 1j * random.integers(-2, 2, shape)
    elif dtype.startswith("u") or dtype == "bool_":
        x = np.abs(x)
    if dtype in TYPES[9:] and x.size > 10:
        x = x.astype(np.complex64 if dtype == "complex64" else np.float64)
        x.flat[[3, 7, 2, 5]] = [np.nan, -np.inf, np.inf, -np.nan]
    return mx.array(x.astype(np.float64) if dtype == "float64" else x).astype(getattr(mx, dtype))


def sorted_by_numpy(x: np.ndarray, axis: int) -> np.ndarray:
    """By its stable sort: NumPy 2.4's other one leaves float16 unsorted on AMD's Zen 4."""
    return np.sort(x, axis, kind="stable")


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_sorts_as_numpy_does(dtype, shape, axis, rounded):
    with mx.stream(mx.cpu):
        a = make_array(dtype, shape, rounded)
        n = to_numpy(a)
        np.testing.assert_array_equal(to_numpy(mx.sort(a, axis)), sorted_by_numpy(n, axis))
        in_order = np.argsort(n, axis, kind="stable")
        np.testing.assert_array_equal(np.array(mx.argsort(a, axis)), in_order)


@pytest.mark.parametrize("share", [0, 0.02, 0.5, 0.98, 1])
@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_partitions(dtype, shape, axis, share):
    with mx.stream(mx.cpu):
        a = make_array(dtype, shape, False)
        n, k = to_numpy(a), int((shape[axis] - 1) * share)
        expected = np.take(sorted_by_numpy(n, axis), range(k + 1), axis)  # NaNs last
        for parted in (
            to_numpy(mx.partition(a, k, axis)),
            np.take_along_axis(n, np.array(mx.argpartition(a, k, axis)), axis),
        ):
            smallest = sorted_by_numpy(np.take(parted, range(k + 1), axis), axis)
            np.testing.assert_array_equal(smallest, expected)
            np.testing.assert_array_equal(np.take(parted, k, axis), np.take(expected, k, axis))


def test_keeps_the_signs_of_zeros():
    x = mx.array([0.0, -0.0, 1.0, -0.0] * 30)
    assert np.signbit(np.array(mx.sort(x))).sum() == 60
    np.testing.assert_array_equal(np.array(mx.argsort(x))[:90], np.flatnonzero(np.array(x) == 0))


def test_extreme_integers():
    for dtype in (np.int8, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        x = np.array([info.max, 0, info.min, 1, info.max - 1] * 20, dtype)
        np.testing.assert_array_equal(np.array(mx.sort(mx.array(x))), np.sort(x))
