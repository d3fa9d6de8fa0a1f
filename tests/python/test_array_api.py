"""The array API standard's names, and 0-dimensional integer arrays as indices."""

import operator

import mlx.core as mx
import numpy as np
import pytest

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
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "empty": "zeros",
    "empty_like": "zeros_like",
    "pow": "power",
}


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases(alias):
    assert getattr(mx, alias) is getattr(mx, ALIASES[alias])


def test_cumulative_functions():
    a = mx.arange(1, 7).reshape(2, 3)
    np.testing.assert_array_equal(mx.cumulative_sum(a, axis=1), np.cumsum(np.array(a), 1))
    np.testing.assert_array_equal(mx.cumulative_prod(a, axis=0), np.cumprod(np.array(a), 0))


def test_matrix_norm():
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        got = mx.matrix_norm(mx.array(x), order, axis=[1, 2], keepdims=True)
        want = np.linalg.norm(x, order, (1, 2), keepdims=True)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_namespace_info():
    info = mx.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": False,
        "data-dependent shapes": False,
        "max dimensions": 10,
    }
    assert info.default_device() == mx.default_device()
    assert info.devices() == (mx.Device(mx.cpu), mx.Device(mx.gpu))
    assert info.default_dtypes()["real floating"] == mx.float32 == mx.zeros(1).dtype
    assert info.default_dtypes(device=mx.cpu)["integral"] == mx.int32 == mx.array([1]).dtype
    assert info.dtypes(device=mx.cpu)["float64"] == mx.float64
    assert "float64" not in info.dtypes(device=mx.gpu)
    assert list(info.dtypes(kind="signed integer")) == ["int8", "int16", "int32", "int64"]
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64"]
    assert mx.array(1).__array_namespace__() is mx
    with pytest.raises(ValueError, match=r"\[isdtype\] Unknown kind 'foo'"):
        info.dtypes(kind="foo")
    with pytest.raises(TypeError, match="device must be"):
        info.dtypes(device="cpu")


def test_index():
    for dtype in (mx.int8, mx.uint8, mx.int32, mx.uint64):
        assert [10, 20, 30][mx.array(1, dtype)] == 20
    assert operator.index(mx.array(2**40)) == 2**40
    assert list(range(mx.array(3))) == [0, 1, 2] and hex(mx.array(10)) == "0xa"
    assert np.arange(5)[: mx.array(2)].tolist() == [0, 1]
    for a in (mx.array(1.0), mx.array(True), mx.array([1]), mx.array([1, 2])):
        with pytest.raises(TypeError, match="integer arrays without axes"):
            operator.index(a)


def test_arrays_as_arguments():
    a = mx.arange(6).reshape(2, 3)
    one, zero = mx.array(1), mx.array(0)
    assert mx.sum(a, axis=zero).tolist() == mx.sum(a, axis=[zero]).tolist() == [3, 5, 7]
    assert mx.argmax(a, axis=one).tolist() == [2, 2]
    assert mx.reshape(a, [mx.array(3), 2]).shape == mx.reshape(a, mx.array([3, 2])).shape == (3, 2)
    assert mx.zeros(mx.array(3)).shape == (3,)
    assert mx.take(a, one, axis=zero).tolist() == a[one].tolist() == [3, 4, 5]
    assert a[zero:one].shape == (1, 3) and a[mx.array([1, 0])].shape == (2, 3)
    with pytest.raises(TypeError):
        mx.sum(a, axis=mx.array(0.0))
    with pytest.raises(TypeError):
        mx.sum(a, axis=mx.array(True))


def test_transposed_matrices_and_corrections():
    assert mx.zeros((2, 3, 4)).mT.shape == (2, 4, 3)
    with pytest.raises(ValueError, match="matrix_transpose"):
        _ = mx.zeros(3).mT
    x = mx.array([1.0, 2.0, 4.0])
    for function in (mx.var, mx.std):
        assert function(x, correction=1).item() == function(x, ddof=1).item()
        assert function(x, ddof=1, correction=0).item() == function(x).item()


def test_bits():
    types = (mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.complex64)
    assert [mx.finfo(dtype).bits for dtype in types] == [16, 16, 32, 64, 32]


def test_array_like():
    class Pair:
        def __mlx_array__(self):
            return mx.array([1, 2])

    for wrapped in (mx.ArrayLike(Pair()), mx.ArrayLike([1, 2]), mx.ArrayLike(mx.array([1, 2]))):
        assert mx.add(wrapped, 1).tolist() == (mx.array([1, 1]) * wrapped + 1).tolist() == [2, 3]
        assert mx.array(wrapped).tolist() == [1, 2]
    assert mx.array(Pair()).tolist() == [1, 2]


def test_buffer_sizes():
    x, y = mx.ones(100), mx.ones(50)
    mx.eval(x, y)
    part = x[:10]
    mx.eval(part)
    assert mx.get_array_buffer_size() == 0
    assert mx.get_array_buffer_size(x) >= 400
    assert mx.get_array_buffer_size(x, part, {"a": [x, 3, None]}) == mx.get_array_buffer_size(x)
    both = mx.get_array_buffer_size([x], {"y": y})
    assert both == mx.get_array_buffer_size(x) + mx.get_array_buffer_size(y)
    with pytest.raises(ValueError, match=r"\[get_array_buffer_size\].*evaluated"):
        mx.get_array_buffer_size(x + 1)
