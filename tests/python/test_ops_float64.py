"""Elementwise operations of float64 against NumPy, to almost the last digit."""

import mlx.core as mx
import numpy as np
import pytest
from test_ops import (
    BINARY,
    BITWISE,
    COMPARISONS,
    INTS,
    OTHER_UNARY,
    POSITIVE,
    SIGNED,
    UNARY,
)

SPECIAL = np.array([0.0, -0.0, 0.5, -0.5, 1.0, np.inf, -np.inf, np.nan])


def double(x: np.ndarray) -> np.ndarray:
    """`x` with digits that float32 does not have."""
    return x.astype(np.float64) + 1e-9


def close_doubles(name: str, function, *inputs: np.ndarray) -> None:
    """Compares our function, of float64 arrays, with one of NumPy."""
    arrays = [mx.array(x, mx.float64) for x in inputs]
    got = np.array(getattr(mx, name)(*arrays, stream=mx.cpu))
    want = function(*inputs)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, 1e-13, 1e-15)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary(name):
    function, x = UNARY[name]
    close_doubles(name, function, double(x))
    close_doubles(name, function, double(x)[::2, :, ::-1])
    close_doubles(name, function, SPECIAL)


@pytest.mark.parametrize("name", OTHER_UNARY)
def test_unary_of_other_types(name):
    if name == "bitwise_invert":
        with pytest.raises(ValueError, match="bitwise_invert"):
            mx.bitwise_invert(mx.array([1.0], mx.float64), stream=mx.cpu)
    else:
        close_doubles(name, OTHER_UNARY[name][0], double(SIGNED))


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_binary(name):
    x, y = double(POSITIVE), double(POSITIVE)[::-1, :1] + 0.37
    close_doubles(name, getattr(np, name), x, y)
    close_doubles(name, getattr(np, name), x.T, x[0, 0, 0])
    if name not in ("remainder", "floor_divide"):  # NumPy's own rules for infinities
        a, b = (m.ravel() for m in np.meshgrid(SPECIAL, SPECIAL))
        close_doubles(name, getattr(np, name), a, b)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    close_doubles(name, getattr(np, name), double(INTS % 3), double(INTS[::-1] % 3))
    a, b = (m.ravel() for m in np.meshgrid(SPECIAL, SPECIAL))
    close_doubles(name, getattr(np, name), a, b)


def test_divmod_and_array_equal():
    x, y = double(SIGNED), double(POSITIVE)
    a, b = mx.array(x, mx.float64), mx.array(y, mx.float64)
    for got, want in zip(mx.divmod(a, b, stream=mx.cpu), np.divmod(x, y), strict=True):
        np.testing.assert_allclose(np.array(got), want, 1e-13, 1e-15)
    special = mx.array(SPECIAL, mx.float64)
    assert mx.array_equal(special, special, equal_nan=True, stream=mx.cpu).item()
    assert not mx.array_equal(special, special, stream=mx.cpu).item()


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_functions_refuse_it(name):
    x = mx.array([1.0], mx.float64)
    with pytest.raises(RuntimeError, match=rf"\[{name}\]"):
        getattr(mx, name)(x, x, stream=mx.cpu)
