"""Elementwise operations against NumPy in double precision."""

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


# Functions that are not functions of floats.
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


def test_floor_divide_is_a_step_function():
    by = mx.array([2.0, 0.0, -3.0])
    gradients = mx.grad(lambda x, y: mx.floor_divide(x, y).sum(), argnums=(0, 1))(by + 5, by)
    assert [g.tolist() for g in gradients] == [[0, 0, 0], [0, 0, 0]]


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
