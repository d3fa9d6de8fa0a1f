"""The buffer protocol, with every format and every kind of request, and arrays of nested lists."""

import ctypes
import itertools
import struct

import mlx.core as mx
import numpy as np
import pytest

DTYPES = {
    "?": mx.bool_, "B": mx.uint8, "H": mx.uint16, "I": mx.uint32, "Q": mx.uint64, "b": mx.int8,
    "h": mx.int16, "i": mx.int32, "q": mx.int64, "e": mx.float16, "f": mx.float32, "d": mx.float64,
    "Zf": mx.complex64, "bfloat16": mx.bfloat16,
}  # fmt: skip
SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS, INDIRECT = 0x38, 0x58, 0x98, 0x118


class View(ctypes.Structure):
    _fields_ = (
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )  # fmt: skip


get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = (ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
release_buffer = ctypes.pythonapi.PyBuffer_Release
release_buffer.argtypes = (ctypes.POINTER(View),)
release_buffer.restype = None


@pytest.mark.parametrize("format", DTYPES)
def test_what_arrays_export(format: str):
    dtype = DTYPES[format]
    with mx.stream(mx.cpu):
        a = mx.arange(24).reshape(2, 3, 4).astype(dtype)
        views = [a, a.T, a[1], a[:, 1:], a[:0], a[0, 0, 0], a[..., ::-1]]
        mx.eval(views)
    for a in views:
        contiguous = a.size == 0 or np.zeros(a.shape).strides == tuple(
            s // a.itemsize * 8 for s in strides_of(a)
        )
        for flags in (SIMPLE, WRITABLE, FORMAT, ND, STRIDES, STRIDES | FORMAT, STRIDES | WRITABLE):
            view = View()
            if flags & STRIDES != STRIDES and not contiguous:
                with pytest.raises(BufferError, match="not contiguous"):
                    get_buffer(a, view, flags)
                continue
            assert get_buffer(a, view, flags) == 0
            assert view.obj is a and not view.readonly and not view.suboffsets
            assert (view.len, view.itemsize, view.ndim) == (a.nbytes, a.itemsize, a.ndim)
            assert view.format == (format.encode() if flags & FORMAT else None)
            assert bool(view.shape) == bool(flags & ND and a.ndim) or a.ndim == 0
            if flags & ND:
                assert tuple(view.shape[: a.ndim]) == a.shape
            if flags & STRIDES == STRIDES:
                assert tuple(view.strides[: a.ndim]) == strides_of(a)
            else:
                assert not view.strides
            release_buffer(view)


def strides_of(a: mx.array) -> tuple[int, ...]:
    view = View()
    get_buffer(a, view, STRIDES)
    strides = tuple(view.strides[: a.ndim])
    release_buffer(view)
    return strides


@pytest.mark.parametrize("order", "@=<>!")
@pytest.mark.parametrize("code", "?bBhHiIqQefd")
def test_formats_of_the_struct_module(order: str, code: str):
    x = np.array([[0, 1, 1], [0, 1, 1]], order.replace("@", "=").replace("!", ">") + code)
    a = mx.array(x, mx.float64 if code == "d" else None)
    assert a.dtype == DTYPES[code]
    assert a.tolist() == [[0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("code", "lLnN")
def test_formats_of_long_integers(code: str):
    view = memoryview(struct.pack(f"3{code}", 1, 2, 3)).cast(code)
    a = mx.array(view)
    assert a.dtype == (mx.int64 if code in "ln" else mx.uint64) and a.tolist() == [1, 2, 3]


@pytest.mark.parametrize("format", ["c", "P", "g", "s", "ii", "w", "4i", "T{i:x:}", ""])
def test_formats_that_arrays_lack(format: str):
    fields = {
        "c": ctypes.c_char, "P": ctypes.c_void_p, "g": ctypes.c_longdouble, "w": ctypes.c_wchar,
        "s": ctypes.c_char, "ii": type("Pair", (ctypes.Structure,), {"_fields_": (("x", ctypes.c_int),) * 1}),
        "4i": type("Four", (ctypes.Structure,), {"_fields_": (("x", ctypes.c_int * 4),)}),
        "T{i:x:}": type("One", (ctypes.Structure,), {"_fields_": (("x", ctypes.c_int),)}),
        "": type("None", (ctypes.Structure,), {"_fields_": ()}),
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"\[array\] Cannot hold elements of the buffer format"):
        mx.array((fields[format] * 3)())


LEAVES = {
    "bool": (True, False),
    "small": (0, 5, -7, 2**31 - 1, -(2**31)),
    "wide": (2**31, -(2**31) - 1, 2**63 - 1, -(2**63)),
    "huge": (2**63, 2**64 - 1),
    "real": (0.5, -1e30, float("inf")),
    "complex": (1j, -2.5 + 3j),
}
KINDS = list(LEAVES)


def wanted_type(kinds: set[str], negative: bool) -> mx.Dtype | None:
    """The type of a list with leaves of these kinds; None if there is none."""
    if "complex" in kinds:
        return mx.complex64
    if "real" in kinds:
        return mx.float32
    if "huge" in kinds:
        return None if negative else mx.uint64
    if "wide" in kinds:
        return mx.int64
    return mx.int32 if "small" in kinds else mx.bool_


@pytest.mark.parametrize("count", [1, 2, 3])
def test_lists_of_numbers_of_all_kinds(count: int):
    for kinds in itertools.product(KINDS, repeat=count):
        for position in range(3):
            leaves = [LEAVES[kind][position % len(LEAVES[kind])] for kind in kinds]
            negative = any(isinstance(v, int) and v < 0 for v in leaves)
            dtype = wanted_type(set(kinds), negative)
            nested = [[leaf] for leaf in leaves], tuple((leaf,) for leaf in leaves)
            for values in nested:
                if dtype is None:
                    with pytest.raises(ValueError, match="No integer type holds both"):
                        mx.array(values)
                    continue
                a = mx.array(values)
                assert a.dtype == dtype, leaves
                want = np.array(leaves, complex if "complex" in kinds else object)
                if dtype in (mx.float32, mx.complex64):
                    want = want.astype(complex).astype(np.complex64)
                assert a.reshape(-1).tolist() == want.tolist(), leaves


def test_lists_of_integers_with_a_floating_type():
    leaves = [2**63, -1, 2**64 - 1, True]
    with mx.stream(mx.cpu):
        assert mx.array(leaves, mx.float64).tolist() == [2.0**63, -1.0, 2.0**64, 1.0]
    for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.complex64):
        assert mx.array([1, -2, True], dtype).tolist() == [1, -2, 1]
    for dtype in (mx.int64, mx.uint64, mx.uint8):
        with pytest.raises(ValueError, match=f"both a negative integer and {2**63}; give a float"):
            mx.array(leaves, dtype)
    for value in (2**64, -(2**63) - 1, 10**400):
        with pytest.raises(ValueError, match="does not fit into"):
            mx.array([value])
    with pytest.raises(ValueError, match="does not fit into a double"):
        mx.array([0.5, 10**400])


@pytest.mark.parametrize(
    "values",
    [
        [1, [2]], [[1], 2], [[1, 2], [3]], [[1], [2, 3]], [[[1]], [2]], [[1], [[2]]], [[], [1]],
        [[1], []], [1, mx.zeros(1)], [mx.zeros(1), mx.zeros(2)], [mx.zeros(1), 1], [[1, 2], mx.zeros(3)],
    ],
)  # fmt: skip
def test_lists_whose_parts_differ(values):
    with pytest.raises(ValueError, match="non-uniform length"):
        mx.array(values)


def test_shapes_of_lists():
    for values, shape in (
        ([], (0,)), ([[]], (1, 0)), ([[], []], (2, 0)), ([[[]]], (1, 1, 0)), ((), (0,)),
        ([mx.zeros(3), [1, 2, 3]], (2, 3)), ([mx.array(1), 2], (2,)), ([[mx.array(1)], [2]], (2, 1)),
        ([np.zeros(2), np.ones(2)], (2, 2)),
    ):  # fmt: skip
        assert mx.array(values).shape == shape
    deep: list = [1]
    for _ in range(63):
        deep = [deep]
    assert mx.array(deep).ndim == 64
    with pytest.raises(ValueError, match="too deeply"):
        mx.array([[deep]])
    for value in ("a", None, {}, b"a", object()):
        with pytest.raises(ValueError, match=f"Invalid type {type(value).__name__} received"):
            mx.array([value])
