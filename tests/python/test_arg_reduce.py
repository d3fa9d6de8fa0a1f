"""argmax and argmin of lines that threads, SIMD-groups or several threadgroups take."""

import mlx.core as mx
import numpy as np
import pytest

DTYPES = ["bool_", "uint8", "int8", "uint16", "int32", "uint64", "int64", "float16", "float32"]
# Rows shorter than a SIMD-group, as long, and longer; columns; few lines that are very long.
CASES = [
    ((7, 1), 1),
    ((5, 31), 1),
    ((5, 32), 1),
    ((300, 33), 1),
    ((4, 64, 100), 2),
    ((64, 300), 0),
    ((3, 200, 40), 1),
    ((2**17 + 1,), 0),
    ((3, 2**18 + 77), 1),
    ((20, 2**17 + 5), 1),
]


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> mx.array:
    """Small numbers, so that many are equal: the first of them counts."""
    x = rng.integers(0, 2 if dtype == "bool_" else 100, shape)
    return mx.array(x if dtype.startswith("u") else x - 50).astype(getattr(mx, dtype))


@pytest.mark.parametrize("shape, axis", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_first_extremes(dtype, shape, axis):
    rng = np.random.default_rng(len(shape) + shape[-1])
    a = values(rng, shape, dtype)
    n = np.array(a)
    for device in (mx.cpu, mx.gpu):
        with mx.stream(device):
            np.testing.assert_array_equal(np.array(mx.argmax(a, axis)), np.argmax(n, axis))
            np.testing.assert_array_equal(np.array(mx.argmin(a, axis)), np.argmin(n, axis))
            moved = mx.moveaxis(a, axis, 0)  # another stride along the axis
            np.testing.assert_array_equal(np.array(mx.argmax(moved, 0)), np.argmax(n, axis))


@pytest.mark.parametrize("shape, axis", CASES)
def test_the_first_nan_wins(shape, axis):
    rng = np.random.default_rng(shape[0])
    n = rng.standard_normal(shape, np.float32)
    n[rng.random(shape) < 2 / shape[axis]] = np.nan
    n[rng.random(shape) < 2 / shape[axis]] = -np.inf
    a = mx.array(n)
    np.testing.assert_array_equal(np.array(mx.argmax(a, axis)), np.argmax(n, axis))
    np.testing.assert_array_equal(np.array(mx.argmin(a, axis)), np.argmin(n, axis))


def test_rows_of_complex_numbers():
    rng = np.random.default_rng(3)
    n = (rng.integers(-3, 3, (9, 70)) + 1j * rng.integers(-3, 3, (9, 70))).astype(np.complex64)
    np.testing.assert_array_equal(np.array(mx.argmax(mx.array(n), 1)), np.argmax(n, 1))
    np.testing.assert_array_equal(np.array(mx.argmin(mx.array(n), 1)), np.argmin(n, 1))
