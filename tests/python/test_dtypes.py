"""Element types: their names, sizes, categories, limits and promotion."""

import copy
import pickle

import mlx.core as mx
import numpy as np
import pytest

NAMES = (
    "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "float16 bfloat16 float32 float64 complex64"
).split()
SIZES = dict(zip(NAMES, (1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_type_has_name_size_and_identity(name):
    dtype = getattr(mx, name)
    assert repr(dtype) == f"mlx.core.{name.rstrip('_')}"
    assert dtype.size == SIZES[name]
    assert dtype == getattr(mx, name) and hash(dtype) == hash(getattr(mx, name))
    assert mx.array([0], dtype).dtype is dtype
    assert pickle.loads(pickle.dumps(dtype)) == dtype
    assert copy.deepcopy(dtype) == dtype


def test_types_differ_from_each_other_and_from_other_objects():
    assert len({getattr(mx, name) for name in NAMES}) == len(NAMES)
    assert mx.float32 != mx.float16
    assert mx.float32 != "float32"
    assert mx.float32 != None  # noqa: E711


def test_issubdtype_follows_numpy():
    categories = (
        "complexfloating floating inexact signedinteger unsignedinteger integer number generic"
    )
    for name in NAMES:
        if name == "bfloat16":
            continue
        for category in categories.split():
            expected = np.issubdtype(np.dtype(name.rstrip("_")), getattr(np, category))
            assert mx.issubdtype(getattr(mx, name), getattr(mx, category)) == expected
    assert mx.issubdtype(mx.bfloat16, mx.floating)
    assert mx.issubdtype(mx.floating, mx.inexact)
    assert not mx.issubdtype(mx.inexact, mx.floating)
    assert mx.issubdtype(mx.float32, mx.float32)
    assert not mx.issubdtype(mx.float32, mx.float16)


def test_isdtype_knows_the_standard_kinds():
    assert mx.isdtype(mx.float32, "real floating")
    assert mx.isdtype(mx.complex64, "complex floating")
    assert mx.isdtype(mx.bool_, "bool")
    assert mx.isdtype(mx.uint8, ("signed integer", "unsigned integer"))
    assert mx.isdtype(mx.int8, mx.int8)
    assert not mx.isdtype(mx.bool_, "numeric")
    with pytest.raises(ValueError, match="Unknown kind"):
        mx.isdtype(mx.int8, "whole")


def test_result_type_and_can_cast():
    assert mx.result_type(mx.float16, mx.zeros((1,), mx.int32)) == mx.float16
    assert mx.result_type(mx.uint8, mx.int8) == mx.int16
    assert mx.result_type(mx.float16, mx.bfloat16) == mx.float32
    assert mx.can_cast(mx.int8, mx.int32)
    assert not mx.can_cast(mx.float32, mx.int32)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_equals_numpy(name):
    ours, theirs = mx.finfo(getattr(mx, name)), np.finfo(name)
    assert ours.min == theirs.min and ours.max == theirs.max
    assert ours.eps == theirs.eps and ours.smallest_normal == theirs.smallest_normal
    assert ours.dtype == getattr(mx, name) and ours.bits == theirs.bits


@pytest.mark.parametrize("name", [n for n in NAMES if "int" in n])
def test_iinfo_equals_numpy(name):
    ours, theirs = mx.iinfo(getattr(mx, name)), np.iinfo(name)
    assert (ours.min, ours.max) == (theirs.min, theirs.max)


def test_limits_refuse_the_wrong_kind():
    with pytest.raises(ValueError):
        mx.finfo(mx.int32)
    with pytest.raises(ValueError):
        mx.iinfo(mx.float32)
