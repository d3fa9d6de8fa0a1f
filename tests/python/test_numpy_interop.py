"""Exchange with NumPy, the buffer protocol and DLPack, in both directions."""

import array as standard_array
from decimal import Decimal
from fractions import Fraction

import mlx.core as mx
import numpy as np
import pytest

NAMES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 complex64".split()


def example(name: str) -> np.ndarray:
    return np.array([[0, 1, 2], [3, 100, 5]]).astype(name)


def named(name: str) -> mx.Dtype:
    return getattr(mx, "bool_" if name == "bool" else name)


@pytest.mark.parametrize("name", NAMES)
def test_numpy_arrays_keep_their_type(name):
    x = example(name)
    a = mx.array(x)
    assert a.dtype == named(name)
    assert np.array_equal(np.array(a), x) and np.array(a).dtype == x.dtype
    assert a.tolist() == x.tolist()


def test_double_precision_becomes_single_unless_asked_for():
    x = np.array([0.1, 1e300])
    assert mx.array(x).dtype == mx.float32
    a = mx.array(x, mx.float64)
    assert a.dtype == mx.float64 and a.tolist() == x.tolist()
    assert mx.array(np.array([1 + 2j])).dtype == mx.complex64
    assert mx.array(np.float64(0.5)).dtype == mx.float32


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::-1],
        lambda x: x[:, ::2],
        lambda x: x[1:, 1:],
        lambda x: np.broadcast_to(x[:1], (4, 3)),
        lambda x: x.astype(">f4"),
        lambda x: np.asfortranarray(x),
        lambda x: x[:0],
        lambda x: x[0, 0],
        lambda x: np.array(x[1, 1]),
    ],
)
def test_any_layout(view):
    x = view(example("float32"))
    a = mx.array(x)
    assert a.shape == x.shape and np.array_equal(np.array(a), x)


def test_what_arrays_cannot_hold_is_refused():
    for x in (
        np.array(["a"]),
        np.array([object()]),
        np.array([(1, 2)], dtype="i4,i4"),
        np.zeros(2, np.longdouble),
    ):
        with pytest.raises((ValueError, TypeError)):
            mx.array(x)


def test_numpy_scalars_are_arrays_of_their_type():
    assert mx.array(np.float16(1.5)).dtype == mx.float16
    assert (mx.array([1.0]) * np.float32(2)).dtype == mx.float32
    assert (mx.array([1, 2]) + np.array([3, 4])).tolist() == [4, 6]
    assert mx.add(np.array([1, 2]), 1).tolist() == [2, 3]


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, mx.int8])
@pytest.mark.parametrize("value", [np.float32(2), np.int64(2), np.full(2, 2.0), np.full(2, 2)])
def test_numpy_beside_an_array_takes_its_type(dtype, value):
    a = mx.array([1, 3]).astype(dtype)
    for found, expected in (
        (a + value, [3, 5]),
        (mx.multiply(value, a), [2, 6]),
        (mx.where(a > 1, a, value), [2, 3]),
        (mx.maximum(a, value), [2, 3]),
        (mx.clip(a, value, None), [2, 3]),
    ):
        assert found.dtype == dtype and found.tolist() == expected
    a += value
    assert a.dtype == dtype and a.tolist() == [3, 5]


def test_python_floats_of_numpy_are_weak():
    assert (mx.array([1, 3]) + np.float64(0.5)).tolist() == [1.5, 3.5]
    assert (mx.array([1.0], mx.float16) + np.float64(0.5)).dtype == mx.float16


class Half:
    def __float__(self):
        return 0.5


class Three:
    def __index__(self):
        return 3


class Imaginary:
    def __complex__(self):
        return 1j


@pytest.mark.parametrize(
    "value, number",
    [(Half(), 0.5), (Three(), 3), (Imaginary(), 1j), (Fraction(1, 2), 0.5), (Decimal("0.5"), 0.5)],
)
def test_numbers_of_other_classes(value, number):
    for a in (mx.array([1, 2]), mx.array([1, 2], mx.float16)):
        for found, expected in (
            (a + value, a + number),
            (value - a, number - a),
            (mx.multiply(a, value), a * number),
            (a == value, a == number),
            (mx.full((2,), value), mx.full((2,), number)),
        ):
            assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
        a += value
        assert a.tolist() == (mx.array([1, 2]) + number).tolist()
    with pytest.raises(ValueError, match="index"):
        mx.array([1, 2])[Half()]


def test_buffers_of_the_standard_library():
    assert mx.array(standard_array.array("h", [1, -2])).tolist() == [1, -2]
    a = mx.array(memoryview(bytes([1, 2, 255])))
    assert a.dtype == mx.uint8 and a.tolist() == [1, 2, 255]


def test_views_share_memory_and_outlive_assignment():
    a = mx.array([1.0, 2.0, 3.0])
    view = np.asarray(a)
    same = np.asarray(a)
    view[0] = 9
    assert same[0] == 9 and a[0].item() == 9
    a[1] = 7
    del a
    assert view.tolist() == [9, 2, 3]


def test_views_of_strided_arrays():
    a = mx.arange(12).reshape(3, 4)
    for b in (a.T, a[::2], a[:, ::-1], mx.broadcast_to(mx.array([1, 2]), (3, 2)), a[1:2, 2]):
        assert np.asarray(b).tolist() == b.tolist()
    m = memoryview(a)
    assert m.shape == (3, 4) and m.format == "i" and m.nbytes == 48


def test_the_array_method():
    a = mx.array([1.0, 2.0])
    assert a.__array__().dtype == np.float32
    assert a.__array__(np.float64).dtype == np.float64
    assert np.array(a, dtype=np.int64).tolist() == [1, 2]
    copied = np.array(a, copy=True)
    copied[0] = 5
    assert a.tolist() == [1, 2]
    assert np.add.reduce(a) == 3


def test_bfloat16():
    a = mx.array([1.0, 2.5, -3.0]).astype(mx.bfloat16)
    assert a.__array__().astype(np.float32).tolist() == [1.0, 2.5, -3.0]
    assert memoryview(a).format == "bfloat16"
    with pytest.raises(ValueError):  # NumPy knows no such format
        np.array(a)


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.0, 2.5], ml_dtypes.bfloat16)
    a = mx.array(x)
    assert a.dtype == mx.bfloat16 and a.tolist() == [1.0, 2.5]
    assert a.__array__().dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("name", NAMES)
def test_dlpack_both_ways(name):
    x = example(name)
    a = mx.array(x)
    assert np.array_equal(np.from_dlpack(a), x)
    assert np.array_equal(np.from_dlpack(a.T), x.T)
    b = mx.from_dlpack(x)
    assert b.dtype == named(name) and np.array_equal(np.array(b), x)
    assert np.array_equal(np.array(mx.from_dlpack(x.T)), x.T)
    assert a.__dlpack_device__() == (1, 0)


def test_dlpack_capsules_may_stay_unused():
    for version in (None, (1, 0)):
        capsule = mx.array([1, 2]).__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) == (version is not None)
        del capsule
    with pytest.raises(TypeError):
        mx.from_dlpack([1])


def test_objects_with_only_an_array_method():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.5, 2.5], dtype or np.float32)

    assert mx.array(Wrapped()).tolist() == [1.5, 2.5]


def test_objects_that_convert_themselves():
    class Own:
        def __mlx_array__(self):
            return mx.array([1, 2])

    assert mx.array(Own()).tolist() == [1, 2]
    assert (mx.array([1, 1]) + Own()).tolist() == [2, 3]


def test_asarray_shares_what_it_can():
    a = mx.array([1, 2])
    assert mx.asarray(a) is a
    assert mx.asarray(a, copy=True) is not a
    assert mx.asarray([1, 2], mx.float32).dtype == mx.float32
    with pytest.raises(ValueError):
        mx.asarray([1, 2], copy=False)
    assert a.__array_namespace__() is mx


@pytest.mark.torch
def test_torch_tensors(torch):
    t = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    assert mx.array(t).tolist() == t.tolist()
    assert mx.array(t.T).tolist() == t.T.tolist()
    assert mx.array(t.bfloat16()).dtype == mx.bfloat16
    assert torch.from_dlpack(mx.array([1, 2])).tolist() == [1, 2]
