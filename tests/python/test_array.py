"""The class array: construction, properties, Python protocols and operators."""

import copy
import math
import operator
import pickle

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, mx.bool_),
        (3, mx.int32),
        (2**40, mx.int64),
        (2**63, mx.uint64),
        (1.5, mx.float32),
        (1 + 2j, mx.complex64),
    ],
)
def test_scalars_have_the_type_of_their_kind(value, dtype):
    a = mx.array(value)
    assert a.dtype == dtype and a.shape == () and a.item() == value
    assert type(a.item()) is type(value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([True, False], mx.bool_),
        ([1, True], mx.int32),
        ([1, 2**40], mx.int64),
        ([1, 2**63], mx.uint64),
        ([1, 2.5], mx.float32),
        ([2.5, 1, True], mx.float32),
        ([1, 2.5, 3j], mx.complex64),
        ([[1, 2], [3, 4]], mx.int32),
        (((1.0, 2.0), (3.0, 4.0)), mx.float32),
        ([[[]]], mx.float32),
        ([], mx.float32),
    ],
)
def test_nested_lists(value, dtype):
    a = mx.array(value)
    assert a.dtype == dtype
    assert a.shape == np.array(value).shape
    assert np.array_equal(np.array(a.tolist()), np.array(value))


def test_lists_of_arrays_are_stacked():
    a = mx.array([mx.array([1, 2]), mx.array([3.5, 4])])
    assert a.dtype == mx.float32 and a.tolist() == [[1, 2], [3.5, 4]]
    assert mx.array([mx.array(1), 2.0]).tolist() == [1.0, 2.0]
    assert mx.array([[mx.array(1), mx.array(2)], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert mx.array([np.float32(1.5), np.float32(2.5)]).tolist() == [1.5, 2.5]


@pytest.mark.parametrize("value", [[[1, 2], [3]], [1, [2]], [[1], 2], [[], [1]]])
def test_ragged_lists_are_refused(value):
    with pytest.raises(ValueError, match="non-uniform length"):
        mx.array(value)


def test_recursive_lists_are_refused():
    value = []
    value.append(value)
    with pytest.raises(ValueError):
        mx.array(value)


@pytest.mark.parametrize("value", ["text", None, object(), [None], ["a"]])
def test_other_objects_are_refused(value):
    with pytest.raises((TypeError, ValueError)):
        mx.array(value)


@pytest.mark.parametrize(
    "dtype", [mx.bool_, mx.uint8, mx.int16, mx.int64, mx.float16, mx.bfloat16, mx.float64]
)
def test_explicit_type(dtype):
    for value in ([0, 1, 2], [0.0, 1.0, 2.0], mx.array([0, 1, 2]), np.array([0, 1, 2])):
        a = mx.array(value, dtype)
        assert a.dtype == dtype
        assert a.tolist() == ([False, True, True] if dtype == mx.bool_ else [0, 1, 2])
    assert mx.array(2.7, mx.int32).item() == 2
    assert mx.array(5, mx.bool_).item() is True


def test_properties():
    a = mx.zeros((2, 3, 4), mx.float16)
    assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes, len(a)) == ((2, 3, 4), 3, 24, 2, 48, 2)
    assert a.T.shape == (4, 3, 2)
    c = mx.array([1 + 2j, 3 - 1j])
    assert c.real.tolist() == [1, 3] and c.imag.tolist() == [2, -1]


def test_text():
    assert repr(mx.array([1, 2, 3])) == "array([1, 2, 3], dtype=int32)"
    assert str(mx.array([[1.5, 2], [3, 4]])) == "array([[1.5, 2],\n       [3, 4]], dtype=float32)"
    assert repr(mx.array(True)) == "array(True, dtype=bool)"
    assert repr(mx.array([])) == "array([], dtype=float32)"
    assert repr(mx.array([1 + 2j, complex(0, -1)])) == "array([1+2j, 0-1j], dtype=complex64)"
    assert repr(mx.arange(10)) == "array([0, 1, 2, ..., 7, 8, 9], dtype=int32)"
    assert repr(mx.array([200], mx.uint8)) == "array([200], dtype=uint8)"
    lines = repr(mx.zeros((8, 2))).splitlines()
    assert len(lines) == 7 and lines[3] == "       ...,"
    assert repr(mx.zeros((0, 3))) == "array([], dtype=float32)"


def test_format():
    assert f"{mx.array(1.23456):.2f}" == "1.23"
    assert f"{mx.array(7):04d}" == "0007"
    assert f"{mx.array([1])}" == "array([1], dtype=int32)"
    with pytest.raises(TypeError):
        f"{mx.array([1, 2]):.2f}"


def test_conversions_to_python_numbers():
    assert int(mx.array(3.7)) == 3 and float(mx.array(2)) == 2.0 and complex(mx.array(1j)) == 1j
    assert bool(mx.array([[1]])) is True and bool(mx.array(0.0)) is False
    for convert in (int, float, bool, complex, lambda a: a.item()):
        with pytest.raises(ValueError, match="size 1"):
            convert(mx.array([1, 2]))


def test_len_and_iteration():
    a = mx.array([[1, 2], [3, 4]])
    assert [row.tolist() for row in a] == [[1, 2], [3, 4]]
    x, y = a
    assert y.tolist() == [3, 4]
    with pytest.raises(TypeError):
        len(mx.array(1))
    with pytest.raises(TypeError):
        iter(mx.array(1))
    assert list(mx.zeros((0, 2))) == []


def test_hash_goes_by_identity():
    a, b = mx.array(1), mx.array(1)
    assert hash(a) != hash(b) and hash(a) == hash(a)
    assert len({a, b}) == 2


@pytest.mark.parametrize(
    "dtype", [mx.bool_, mx.int8, mx.float16, mx.bfloat16, mx.float32, mx.complex64]
)
def test_pickle_and_copy(dtype):
    a = mx.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    for b in (
        pickle.loads(pickle.dumps(a)),
        copy.copy(a),
        copy.deepcopy(a),
        pickle.loads(pickle.dumps(a.T)).T,
    ):
        assert b.dtype == dtype and mx.array_equal(a, b).item()
    b = copy.copy(a)
    b[0] = 0
    assert a[0, 1].item() != 0


# Weakly typed scalars keep the array's type where it can hold their kind.
@pytest.mark.parametrize(
    ("dtype", "scalar", "expected"),
    [
        (mx.float16, 2.0, mx.float16),
        (mx.float16, 2, mx.float16),
        (mx.bfloat16, 2.0, mx.bfloat16),
        (mx.uint8, 2, mx.uint8),
        (mx.int32, 2.0, mx.float32),
        (mx.int64, 2.0, mx.float32),
        (mx.bool_, 2, mx.int32),
        (mx.bool_, 2.0, mx.float32),
        (mx.bool_, True, mx.bool_),
        (mx.float16, 2j, mx.complex64),
        (mx.int8, True, mx.int8),
    ],
)
def test_scalar_operands(dtype, scalar, expected):
    a = mx.array([0, 1]).astype(dtype)
    assert (a * scalar).dtype == expected
    assert (scalar * a).dtype == expected
    assert mx.multiply(a, scalar).dtype == expected
    assert mx.multiply(scalar, a).dtype == expected


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("op", BINARY)
def test_operators_on_floats(op):
    x, y = np.array([1.5, -2.0, 3.0], np.float32), np.array([2.0, 3.0, 1.0], np.float32)
    a, b = mx.array(x), mx.array(y)
    np.testing.assert_allclose(np.array(op(a, b)), op(x, y), rtol=1e-6)
    np.testing.assert_allclose(np.array(op(a, 2.0)), op(x, np.float32(2)), rtol=1e-6)
    np.testing.assert_allclose(np.array(op(2.0, b)), op(np.float32(2), y), rtol=1e-6)


@pytest.mark.parametrize(
    "op",
    [
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
        operator.mod,
        operator.floordiv,
    ],
)
def test_operators_on_integers(op):
    x, y = np.array([12, 7, 255], np.int32), np.array([3, 2, 1], np.int32)
    assert np.array_equal(np.array(op(mx.array(x), mx.array(y))), op(x, y))
    assert np.array_equal(np.array(op(mx.array(x), 2)), op(x, 2))
    assert np.array_equal(np.array(op(5, mx.array(y))), op(5, y))


def test_unary_operators():
    a = mx.array([1, -2, 3])
    assert (
        (-a).tolist() == [-1, 2, -3]
        and abs(a).tolist() == [1, 2, 3]
        and (~a).tolist() == [-2, 1, -4]
    )
    assert (~mx.array([True, False])).tolist() == [False, True]


def test_in_place_operators_change_the_object():
    a = mx.array([1.0, 2.0])
    alias = a
    for op, expected in (
        (operator.iadd, [3, 4]),
        (operator.isub, [1, 2]),
        (operator.imul, [2, 4]),
        (operator.itruediv, [1, 2]),
        (operator.ipow, [1, 4]),
        (operator.ifloordiv, [0, 2]),
        (operator.imod, [0, 0]),
    ):
        a = op(a, 2)
        assert a is alias and alias.tolist() == expected
    m = mx.eye(2)
    m @= mx.array([[1.0, 2.0], [3.0, 4.0]])
    assert m.tolist() == [[1, 2], [3, 4]]
    i = mx.array([6])
    i &= 3
    i |= 8
    i ^= 1
    i <<= 2
    i >>= 1
    assert i.item() == 22


def test_in_place_division_of_integers_is_refused():
    a = mx.array([1, 2])
    with pytest.raises(ValueError):
        a /= 2


def test_operators_refuse_other_objects():
    a = mx.array([1.0])
    for other in ("text", [1.0]):
        with pytest.raises(ValueError, match="Cannot perform addition"):
            _ = a + other
        with pytest.raises(ValueError, match="Cannot perform multiplication"):
            _ = a * other
    with pytest.raises(TypeError, match="addition on an mlx.core.array and NoneType"):
        _ = a + None
    with pytest.raises(TypeError, match="inequality on an mlx.core.array and NoneType"):
        _ = a != None  # noqa: E711
    with pytest.raises(ValueError, match="less than"):
        a < "text"  # noqa: B015
    with pytest.raises(ValueError, match="bitwise and"):
        _ = a & 1
    with pytest.raises(ValueError, match="inversion"):
        _ = ~a
    assert (a == "text") is False and (a != object()) is True


def test_reflected_methods_of_other_classes_are_called():
    class Other:
        def __radd__(self, other):
            return "theirs"

    assert mx.array(1) + Other() == "theirs"


def test_operators_of_classes_that_inherit_are_called():
    class Named(mx.array):
        def __add__(self, other):
            return "left"

        def __radd__(self, other):
            return "right"

    a, named = mx.array([3.0]), Named([2.0])
    assert named + a == "left" and named + 1 == "left" and named + named == "left"
    assert a + named == "right" and 1 + named == "right"
    assert (a - named).tolist() == [1] and (named - a).tolist() == [-1]
    assert (named @ a).item() == (a @ named).item() == 6
    before = named
    named *= 2
    assert named is before and named.tolist() == [4]


def test_operators_can_be_replaced(monkeypatch):
    a = mx.array(3)
    monkeypatch.setattr(mx.array, "__sub__", lambda a, b: "replaced")
    assert a - a == "replaced" and a - 1 == "replaced"
    monkeypatch.undo()
    assert (a - a).item() == 0 and (a - 1).item() == 2 and (1 - a).item() == -2


def test_products_refuse_other_objects():
    a = mx.array([1.0, 2.0])
    for other in (2, 2.0, "text", None):
        with pytest.raises(TypeError):
            _ = a @ other
        with pytest.raises(TypeError):
            _ = other @ a
    with pytest.raises(ValueError, match="matmul"):
        _ = a @ mx.array([1.0, 2.0, 3.0])


def test_methods_agree_with_functions():
    a = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
    calls = {
        "sum": {"axis": 0},
        "prod": {"axis": 1},
        "min": {},
        "max": {"axis": (0, 1)},
        "mean": {"axis": -1, "keepdims": True},
        "var": {"ddof": 1},
        "std": {},
        "argmin": {"axis": 1},
        "argmax": {},
        "all": {},
        "any": {"axis": 0},
        "logsumexp": {"axis": 1},
        "cumsum": {"axis": 0, "reverse": True},
        "cumprod": {"axis": 1},
        "cummax": {},
        "cummin": {"axis": 0, "inclusive": False},
        "exp": {},
        "log": {},
        "sqrt": {},
        "rsqrt": {},
        "square": {},
        "sin": {},
        "cos": {},
        "abs": {},
        "reciprocal": {},
        "log2": {},
        "log10": {},
        "log1p": {},
        "round": {},
        "squeeze": {},
        "flatten": {},
        "transpose": {},
        "diagonal": {},
        "diag": {},
    }
    for name, arguments in calls.items():
        ours, function = getattr(a, name)(**arguments), getattr(mx, name)(a, **arguments)
        assert (
            ours.shape == function.shape and mx.array_equal(ours, function, equal_nan=True).item()
        ), name


def test_shape_methods_take_integers_or_a_tuple():
    a = mx.arange(12)
    assert a.reshape(3, 4).shape == a.reshape((3, 4)).shape == a.reshape([3, -1]).shape == (3, 4)
    b = a.reshape(3, 4, 1)
    assert b.transpose(1, 0, 2).shape == b.transpose((1, 0, 2)).shape == (4, 3, 1)
    assert b.transpose().shape == (1, 4, 3)
    assert b.swapaxes(0, 2).shape == (1, 4, 3) and b.moveaxis(0, 2).shape == (4, 1, 3)
    assert [s.shape for s in a.split(3)] == [(4,)] * 3
    assert [s.shape for s in a.split([2, 5])] == [(2,), (3,), (7,)]
    assert b.astype(mx.float16).dtype == mx.float16 and a.view(mx.float32).dtype == mx.float32


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.floats(-1e3, 1e3, width=32), lambda s: st.lists(s, min_size=1, max_size=3), max_leaves=12
    )
)
def test_any_list_gives_what_numpy_gives(value):
    try:
        expected = np.array(value, np.float32)
    except ValueError:
        with pytest.raises(ValueError):
            mx.array(value)
        return
    a = mx.array(value)
    assert a.shape == expected.shape
    assert np.array_equal(np.array(a), expected)


def test_special_values_survive():
    values = [math.inf, -math.inf, math.nan, -0.0]
    back = mx.array(values).tolist()
    assert back[:2] == values[:2] and math.isnan(back[2]) and math.copysign(1, back[3]) == -1


def test_objects_that_init_has_not_made_cannot_be_used():
    array, other = mx.array.__new__(mx.array), mx.array([1.0])
    uses = [
        repr,
        mx.eval,
        mx.sin,
        len,
        np.asarray,
        memoryview,
        lambda a: a + 1,
        lambda a: other @ a,
    ]
    for use in [*uses, lambda a: mx.stack([other, a]), lambda a: a.shape, pickle.dumps, copy.copy]:
        with pytest.raises((TypeError, RuntimeError), match="__init__ has not been called"):
            use(array)
    for kind in (mx.Device, mx.Dtype, mx.Stream, mx.finfo):
        with pytest.raises(TypeError, match="__init__ has not been called"):
            repr(kind.__new__(kind))
    array.__init__([1, 2])
    assert array.tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(array)).tolist() == copy.deepcopy(array).tolist() == [1, 2]
