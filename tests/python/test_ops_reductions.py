"""Reductions, softmax and scans against NumPy and SciPy in double precision."""

import mlx.core as mx
import numpy as np
import pytest
import scipy.special
from test_ops import RNG, SIGNED, UNIT, close

REDUCTIONS = "sum prod min max mean var std all any median".split()


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2), (1,)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axis):
    x = UNIT + 1.5
    if name in ("all", "any"):
        x = x > 1.4
    expected = getattr(np, name)(x.astype(np.float64), axis=axis)
    close(getattr(mx, name)(mx.array(x), axis), expected, 1e-4)
    kept = getattr(mx, name)(mx.array(x), axis, keepdims=True)
    close(kept, getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=True), 1e-4)
    close(
        getattr(mx, name)(mx.array(x).T, axis),
        getattr(np, name)(x.T.astype(np.float64), axis=axis),
        1e-4,
    )


@pytest.mark.parametrize("shape", [(1,), (33,), (1000, 3), (3, 1000), (7, 65, 5), (100_003,)])
def test_reductions_of_many_sizes(shape):
    x = RNG.integers(-5, 6, shape).astype(np.float32)
    for axis in (None, *range(len(shape))):
        close(mx.sum(mx.array(x), axis), x.sum(axis))
        close(mx.max(mx.array(x), axis), x.max(axis))
        assert np.array_equal(np.array(mx.argmax(mx.array(x), axis)), x.argmax(axis))
        assert np.array_equal(np.array(mx.argmin(mx.array(x), axis)), x.argmin(axis))


def test_reductions_of_integers_and_empty_arrays():
    assert mx.sum(mx.array([200, 100], mx.uint8)).item() == 300
    assert mx.prod(mx.array([2, 3])).item() == 6
    assert mx.sum(mx.zeros((0, 3)), 0).tolist() == [0, 0, 0] and mx.prod(mx.zeros((0,))).item() == 1
    assert mx.all(mx.zeros((0,))).item() and not mx.any(mx.zeros((0,))).item()
    assert mx.count_nonzero(mx.array([[0, 1], [2, 3]]), axis=0).tolist() == [1, 2]
    slopes = mx.grad(lambda x: mx.count_nonzero(x).astype(mx.float32))(mx.array([0.0, 2.0]))
    assert slopes.tolist() == [0, 0]


def test_softmax_and_logsumexp():
    for axis in (None, 0, -1, (0, 1)):
        close(
            mx.softmax(mx.array(SIGNED), axis),
            scipy.special.softmax(SIGNED.astype(np.float64), axis),
        )
        close(
            mx.logsumexp(mx.array(SIGNED), axis),
            scipy.special.logsumexp(SIGNED.astype(np.float64), axis),
        )
    assert mx.softmax(mx.array([1e4, 0.0])).tolist() == [1, 0]


# Rows that are kept while their sum is computed, and longer ones.
@pytest.mark.parametrize("length", [1, 31, 32, 100, 1500, 8191, 8192, 8193, 20000])
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_softmax_of_rows(length: int, dtype, rng):
    x = mx.array(rng.normal(size=(5, length)) * 4).astype(dtype)
    numbers = np.array(x.astype(mx.float32)).astype(np.float64)
    bound = {"rtol": 5e-6} if dtype == mx.float32 else {"rtol": 5e-3}
    got = np.array(mx.softmax(x, -1).astype(mx.float32))
    np.testing.assert_allclose(got, scipy.special.softmax(numbers, -1), **bound)
    got = np.array(mx.logsumexp(x, -1).astype(mx.float32))
    np.testing.assert_allclose(got, scipy.special.logsumexp(numbers, -1), **bound)


@pytest.mark.parametrize("length", [3, 64, 9000])
def test_softmax_of_infinities_and_nans(length: int):
    x = np.zeros((5, length), np.float32)
    x[0, 1] = np.nan
    x[1, :] = -np.inf
    x[2, 1:] = -np.inf
    x[3, :] = np.nan
    x[4, 2] = np.inf
    got = np.array(mx.softmax(mx.array(x), -1))
    assert np.isnan(got[[0, 1, 3]]).all() and np.isnan(got[4, 2])
    assert got[2, 0] == 1 and not got[2, 1:].any()
    got = np.array(mx.logsumexp(mx.array(x), -1))
    np.testing.assert_array_equal(got, [np.nan, -np.inf, 0, np.nan, np.inf])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_scans(axis):
    x = UNIT + 1.2
    a = mx.array(x)
    close(mx.cumsum(a, axis), np.cumsum(x, axis), 1e-4)
    close(mx.cumprod(a, axis), np.cumprod(x, axis), 1e-4)
    close(mx.cummax(a, axis), np.maximum.accumulate(x, axis))
    close(
        mx.cummin(a, axis, reverse=True),
        np.flip(np.minimum.accumulate(np.flip(x, axis), axis), axis),
    )
    close(mx.cumsum(a, axis, inclusive=False), np.cumsum(x, axis) - x, 1e-4, 1e-5)
    close(mx.logcumsumexp(a, axis), np.logaddexp.accumulate(x, axis), 1e-4)
    close(mx.diff(a, axis=axis), np.diff(x, axis=axis), 1e-4, 1e-5)
    assert mx.cumsum(mx.array([1, 2]), dtype=mx.float32).dtype == mx.float32


def test_exclusive_scans_of_complex_numbers():
    z = mx.array([1 + 1j, 2 - 1j])
    sums = mx.logcumsumexp(z, inclusive=False)
    assert sums.tolist() == [complex(-np.inf, 0), 1 + 1j]
    assert mx.cumprod(z, inclusive=False).tolist() == [1, 1 + 1j]
    assert mx.cumsum(z, reverse=True, inclusive=False).tolist() == [2 - 1j, 0]


def test_corrections_of_variances(rng):
    x = rng.normal(size=(4, 7)).astype(np.float32)
    for correction in (0, 1, 2):
        for name in ("var", "std"):
            want = getattr(np, name)(x.astype(np.float64), axis=1, ddof=correction)
            close(getattr(mx, name)(mx.array(x), 1, correction=correction), want)
            close(getattr(mx.array(x), name)(axis=1, correction=correction), want)


@pytest.mark.parametrize("shape", [(9,), (3, 31), (70, 300), (2, 70001), (4, 600, 5)], ids=str)
@pytest.mark.parametrize("offset", [0, -1000, 30000])
def test_variances_of_numbers_far_from_zero(rng, shape, offset):
    """Squares of the numbers have no digits for such variances."""
    x = (offset + rng.normal(size=shape)).astype(np.float32)
    a = mx.array(x)
    for axis in [None, *range(len(shape)), tuple(range(len(shape)))[-2:]]:
        want = np.var(x.astype(np.float64), axis)
        for stream in (mx.cpu, mx.gpu):
            assert np.allclose(np.array(mx.var(a, axis, stream=stream)), want, 3e-5, 1e-7)


def test_variances_of_extreme_numbers():
    for numbers in (
        [mx.inf, 1.0],
        [1.0, mx.inf],
        [2.0, -mx.inf, 1.0],
        [mx.nan, 1.0],
        [-mx.inf, mx.inf],
    ):
        for dtype in (mx.float32, mx.float16):
            assert mx.isnan(mx.var(mx.array(numbers, dtype))).item()
            assert mx.isnan(
                mx.var(mx.array([[0.0, n] for n in numbers], dtype), axis=0)
            ).tolist() == [
                False,
                True,
            ]
    assert mx.var(mx.full((1000,), 1e20)).item() == 0
    assert mx.var(mx.array([5e4, -5e4], mx.float16)).item() == mx.inf
    assert mx.var(mx.full((3, 4), 0.1), axis=1).tolist() == [0, 0, 0]
    # Too few numbers.
    assert mx.isnan(mx.var(mx.array([3.0]), ddof=1)).item()
    assert mx.var(mx.array([1.0, 2.0]), ddof=3).item() == mx.inf
    assert mx.isnan(mx.var(mx.ones((0, 2)), axis=0)).tolist() == [True, True]
    assert mx.mean(mx.array([6e4, 6e4], mx.float16)).item() == 6e4


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.int32], ids=str)
@pytest.mark.parametrize("shape", [(5,), (3, 31), (7, 1000), (2, 8193), (5, 64, 6)], ids=str)
def test_scans_and_softmax_in_the_place_of_their_input(rng, shape, dtype):
    """An array that nobody else uses gives its memory to the result."""
    x = mx.array(rng.integers(-9, 9, shape)).astype(dtype)
    kept = x + x
    mx.eval(kept)
    operations = [
        lambda a, f=f, axis=axis, reverse=reverse: f(a, axis, reverse=reverse)
        for f in (mx.cumsum, mx.cummax)
        for axis in range(len(shape))
        for reverse in (False, True)
    ]
    if dtype != mx.int32:
        operations.append(lambda a: mx.softmax(a, -1))
    for f in operations:
        expected = f(kept)
        mx.eval(expected)
        assert mx.array_equal(f(x + x), expected).item()
