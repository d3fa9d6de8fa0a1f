"""Operations against NumPy in double precision."""

import re
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import scipy.special

RNG = np.random.default_rng(0)
POSITIVE = RNG.uniform(0.1, 3, (3, 4, 5)).astype(np.float32)
SIGNED = RNG.uniform(-3, 3, (3, 4, 5)).astype(np.float32)
UNIT = RNG.uniform(-0.95, 0.95, (3, 4, 5)).astype(np.float32)
INTS = RNG.integers(-20, 20, (3, 4, 5)).astype(np.int32)
COMPLEX = (SIGNED + 1j * UNIT).astype(np.complex64)


def close(ours, expected, rtol=2e-5, atol=2e-6):
    expected = np.asarray(expected)
    assert ours.shape == expected.shape
    np.testing.assert_allclose(
        np.array(ours).astype(np.complex128 if np.iscomplexobj(expected) else np.float64),
        expected,
        rtol,
        atol,
    )


UNARY = {
    "abs": (np.abs, SIGNED),
    "sign": (np.sign, SIGNED),
    "negative": (np.negative, SIGNED),
    "positive": (np.positive, SIGNED),
    "exp": (np.exp, SIGNED),
    "expm1": (np.expm1, UNIT),
    "erf": (scipy.special.erf, SIGNED),
    "erfinv": (scipy.special.erfinv, UNIT),
    "sin": (np.sin, SIGNED),
    "cos": (np.cos, SIGNED),
    "tan": (np.tan, UNIT),
    "arcsin": (np.arcsin, UNIT),
    "arccos": (np.arccos, UNIT),
    "arctan": (np.arctan, SIGNED),
    "sinh": (np.sinh, SIGNED),
    "cosh": (np.cosh, SIGNED),
    "tanh": (np.tanh, SIGNED),
    "arcsinh": (np.arcsinh, SIGNED),
    "arccosh": (np.arccosh, POSITIVE + 1),
    "arctanh": (np.arctanh, UNIT),
    "degrees": (np.degrees, SIGNED),
    "radians": (np.radians, SIGNED),
    "log": (np.log, POSITIVE),
    "log2": (np.log2, POSITIVE),
    "log10": (np.log10, POSITIVE),
    "log1p": (np.log1p, POSITIVE),
    "sigmoid": (scipy.special.expit, SIGNED),
    "square": (np.square, SIGNED),
    "sqrt": (np.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE),
    "reciprocal": (np.reciprocal, POSITIVE),
    "floor": (np.floor, SIGNED),
    "ceil": (np.ceil, SIGNED),
    "trunc": (np.trunc, SIGNED),
    "round": (np.round, SIGNED * 2),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    function, x = UNARY[name]
    close(getattr(mx, name)(mx.array(x)), function(x.astype(np.float64)))
    half = x.astype(np.float16)
    close(getattr(mx, name)(mx.array(half)), function(half.astype(np.float64)), 4e-3, 4e-3)
    assert getattr(mx, name)(mx.array(x).astype(mx.bfloat16)).dtype == mx.bfloat16
    strided = mx.array(x)[::2, :, ::-1]
    close(getattr(mx, name)(strided), function(x[::2, :, ::-1].astype(np.float64)))
    close(
        getattr(mx, name)(1),
        function(np.float64(1)) if name not in ("arctanh", "erfinv") else np.inf,
    )


# Functions that are not ones of floats.
OTHER_UNARY = {
    "bitwise_invert": (np.invert, INTS),
    "conjugate": (np.conjugate, COMPLEX),
    "imag": (np.imag, COMPLEX),
    "logical_not": (np.logical_not, INTS % 3),
    "real": (np.real, COMPLEX),
}


@pytest.mark.parametrize("name", OTHER_UNARY)
def test_unary_of_other_types(name):
    function, x = OTHER_UNARY[name]
    for ours, theirs in ((mx.array(x), x), (mx.array(x)[::2, :, ::-1], x[::2, :, ::-1])):
        got, want = np.array(getattr(mx, name)(ours)), function(theirs)
        assert got.dtype == want.dtype and np.array_equal(got, want)


def test_unary_of_special_values():
    x = mx.array([np.nan, np.inf, -np.inf, 1.0])
    assert mx.isnan(x).tolist() == [True, False, False, False]
    assert mx.isinf(x).tolist() == [False, True, True, False]
    assert mx.isfinite(x).tolist() == [False, False, False, True]
    assert mx.isposinf(x).tolist() == [False, True, False, False]
    assert mx.isneginf(x).tolist() == [False, False, True, False]
    assert mx.nan_to_num(x, nan=5.0, posinf=1.0, neginf=-1.0).tolist() == [5, 1, -1, 1]
    assert mx.round(mx.array([2.345, -1.255]), 2).tolist() == pytest.approx(
        [2.34, -1.26], abs=0.011
    )
    assert mx.logical_not(mx.array([0, 2])).tolist() == [True, False]
    assert mx.bitwise_invert(mx.array([0, 5])).tolist() == [-1, -6]


def test_complex_numbers():
    z = COMPLEX[0]
    a = mx.array(z)
    for name in ("exp", "sin", "cos", "abs", "conj", "square", "real", "imag"):
        close(getattr(mx, name)(a), getattr(np, name)(z), 1e-4, 1e-4)
    close(a * (1 + 2j), z * (1 + 2j))
    close(a / a[0], z / z[0], 1e-4, 1e-4)


BINARY = (
    "add subtract multiply divide power maximum minimum logaddexp arctan2 remainder floor_divide"
).split()


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = POSITIVE, POSITIVE[::-1, :1] + 0.37
    function = getattr(np, name)
    close(
        getattr(mx, name)(mx.array(x), mx.array(y)),
        function(x.astype(np.float64), y.astype(np.float64)),
        1e-4,
        1e-5,
    )
    close(
        getattr(mx, name)(mx.array(x).T, mx.array(x[0, 0, 0])),
        function(x.T.astype(np.float64), x[0, 0, 0]),
        1e-4,
        1e-5,
    )


COMPARISONS = (
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor"
).split()


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    x, y = INTS % 3, INTS[::-1] % 3
    ours = getattr(mx, name)(mx.array(x), mx.array(y))
    assert ours.dtype == mx.bool_ and np.array_equal(np.array(ours), getattr(np, name)(x, y))


BITWISE = "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()


@pytest.mark.parametrize("name", ["floor_divide", "remainder", *BITWISE])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32])
def test_binary_of_integers(name, dtype):
    x, y = INTS.astype(dtype), (np.abs(INTS[::-1]) + 1).astype(dtype)
    assert np.array_equal(
        np.array(getattr(mx, name)(mx.array(x), mx.array(y))), getattr(np, name)(x, y)
    )


def test_divmod_and_shifts():
    q, r = mx.divmod(mx.array([7, -7]), 3)
    assert q.tolist() == [2, -3] and r.tolist() == [1, 2]
    assert mx.left_shift(mx.array([1, 3]), 2).tolist() == [4, 12]
    assert mx.right_shift(mx.array([8, -8]), 1).tolist() == [4, -4]


def rows_of_the_table(macro: str) -> set[str]:
    """The functions in the rows of elementwise.def."""
    table = Path(mx.__file__).parent / "include/mlx/primitives/elementwise.def"
    row = rf'^MLX_{macro}(?:_CUSTOM|_VARIANT)?\(\w+, (\w+), \w+, .*"'
    return set(re.findall(row, table.read_text(), re.MULTILINE))


def test_every_elementwise_operation_has_a_row_here():
    assert {"sin"} <= rows_of_the_table("UNARY") <= {*UNARY, *OTHER_UNARY}
    assert {"add"} <= rows_of_the_table("BINARY") <= {*BINARY, *COMPARISONS, *BITWISE}


def test_types_promote():
    a = mx.ones(2, mx.int8)
    assert (a + mx.ones(2, mx.uint8)).dtype == mx.int16
    assert (a + mx.ones(2, mx.float16)).dtype == mx.float16
    assert (mx.ones(2, mx.float16) + mx.ones(2, mx.bfloat16)).dtype == mx.float32
    assert (a / a).dtype == mx.float32 and mx.exp(a).dtype == mx.float32
    assert (mx.array([True]) + mx.array([True])).dtype == mx.bool_
    assert (a == a).dtype == mx.bool_ and mx.sum(mx.array([True, True])).dtype == mx.int32


def test_closeness():
    a = mx.array([1.0, np.nan, np.inf])
    assert mx.isclose(a, a).tolist() == [True, False, True]
    assert mx.allclose(a, a, equal_nan=True).item() and not mx.allclose(a, a).item()
    assert mx.array_equal(a, a, equal_nan=True).item() and not mx.array_equal(a, a).item()
    assert not mx.array_equal(mx.ones(2), mx.ones(3)).item()


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


# Rows that are kept while their sum is made, and longer ones.
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


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 5), (5, 6)),
        ((5,), (5, 6)),
        ((4, 5), (5,)),
        ((5,), (5,)),
        ((2, 4, 5), (5, 6)),
        ((2, 1, 4, 5), (3, 5, 6)),
        ((65, 130), (130, 67)),
    ],
)
def test_matmul(left, right):
    x, y = RNG.normal(size=left).astype(np.float32), RNG.normal(size=right).astype(np.float32)
    close(mx.array(x) @ mx.array(y), x.astype(np.float64) @ y, 1e-4, 1e-4)
    close(
        mx.matmul(mx.array(x).astype(mx.float16), mx.array(y).astype(mx.float16)),
        x.astype(np.float64) @ y,
        2e-2,
        5e-2,
    )


def test_products():
    x, y = SIGNED[0], UNIT[0]
    a, b = mx.array(x), mx.array(y)
    close(a @ b.T, x @ y.T, 1e-4, 1e-5)
    close(mx.addmm(mx.ones((4, 4)), a, b.T, alpha=2.0, beta=3.0), 2 * x @ y.T + 3, 1e-4, 1e-5)
    close(mx.inner(a, b), np.inner(x, y), 1e-4, 1e-5)
    close(mx.outer(a, b), np.outer(x, y), 1e-4, 1e-5)
    close(mx.vecdot(a, b), (x * y).sum(-1), 1e-4, 1e-5)
    close(mx.kron(a, b), np.kron(x, y), 1e-4, 1e-5)
    close(mx.tensordot(a, b, 2), np.tensordot(x, y, 2), 1e-4, 1e-5)
    close(mx.tensordot(a, b, [[0], [0]]), np.tensordot(x, y, [[0], [0]]), 1e-4, 1e-5)
    close(mx.einsum("ij,kj->ki", a, b), np.einsum("ij,kj->ki", x, y), 1e-4, 1e-5)
    close(mx.einsum("ii->i", mx.array(x[:, :4])), np.einsum("ii->i", x[:, :4]))
    path, text = mx.einsum_path("ij,jk,kl", a, b.T, a)
    assert path and isinstance(text, str)


def test_svd():
    u, s, vt = mx.linalg.svd(mx.array(SIGNED[0]))
    assert u.shape == (4, 4) and s.shape == (4,) and vt.shape == (5, 5)
    close((u * s) @ vt[:4], SIGNED[0], 1e-4, 1e-4)
    close(
        mx.linalg.svd(mx.array(SIGNED[0]), compute_uv=False),
        np.linalg.svd(SIGNED[0].astype(np.float64), compute_uv=False),
        1e-4,
    )


ALIASES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "pow": "power",
}


@pytest.mark.parametrize("alias", ALIASES)
def test_names_of_the_array_api_standard(alias: str):
    assert getattr(mx, alias) is getattr(mx, ALIASES[alias])


def test_new_arrays_of_any_values():
    assert mx.empty((2, 3)).shape == (2, 3) and mx.empty(4, mx.int8).dtype == mx.int8
    like = mx.empty_like(mx.zeros((2, 3), mx.float16))
    assert like.shape == (2, 3) and like.dtype == mx.float16


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


def test_corrections_of_variances(rng):
    x = rng.normal(size=(4, 7)).astype(np.float32)
    for correction in (0, 1, 2):
        for name in ("var", "std"):
            want = getattr(np, name)(x.astype(np.float64), axis=1, ddof=correction)
            close(getattr(mx, name)(mx.array(x), 1, correction=correction), want)
            close(getattr(mx.array(x), name)(axis=1, correction=correction), want)
