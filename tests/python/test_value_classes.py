"""Devices, streams, types and categories as values: equality, hashes, texts, copies."""

import copy
import enum
import itertools
import pickle

import mlx.core as mx
import pytest

DTYPES = [
    mx.bool_, mx.uint8, mx.uint16, mx.uint32, mx.uint64, mx.int8, mx.int16, mx.int32, mx.int64,
    mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.complex64,
]  # fmt: skip
CATEGORIES = [
    mx.generic, mx.number, mx.integer, mx.signedinteger, mx.unsignedinteger, mx.inexact,
    mx.floating, mx.complexfloating,
]  # fmt: skip
STREAMS = [mx.default_stream(mx.cpu), mx.default_stream(mx.gpu), mx.new_stream(mx.cpu)]
STREAMS += [mx.new_stream(mx.gpu)]
LOCAL_STREAMS = [mx.new_thread_local_stream(mx.cpu), mx.new_thread_local_stream(mx.gpu)]
DEVICES = [mx.Device(mx.cpu), mx.Device(mx.gpu)]
TYPES = [mx.cpu, mx.gpu]
KINDS = ["cpu", "gpu"]
FAMILIES = ["complexfloating", "floating", "inexact", "signedinteger", "unsignedinteger"]
FAMILIES += ["integer", "number", "generic"]
# The values of a class are different. A device and its type are equal.
CLASSES = [DTYPES, CATEGORIES, STREAMS, LOCAL_STREAMS, DEVICES, TYPES]
FOREIGN = [None, 3, 1.5, "cpu", (), object(), Ellipsis, mx.array]


def is_device(value: object) -> bool:
    return isinstance(value, mx.Device | mx.DeviceType)


@pytest.mark.parametrize("values", CLASSES)
def test_equality(values: list):
    for (i, a), (j, b) in itertools.product(enumerate(values), repeat=2):
        assert (a == b) is (i == j) and (a != b) is (i != j)
    for a, other in itertools.product(values, itertools.chain(*CLASSES)):
        if type(a) is not type(other) and not (is_device(a) and is_device(other)):
            assert (a == other) is False and (a != other) is True
            assert (other == a) is False and (other != a) is True
    for a, other in itertools.product(values, FOREIGN):
        assert (a == other) is False and (a != other) is True
        assert (other == a) is False and (other != a) is True


def test_devices_equal_their_type():
    for (i, device), (j, kind) in itertools.product(enumerate(DEVICES), enumerate(TYPES)):
        assert (device == kind) is (kind == device) is (i == j)
        assert (device != kind) is (kind != device) is (i != j)


@pytest.mark.parametrize("values", CLASSES)
def test_hashes_tell_values_apart(values: list):
    assert len({hash(value) for value in values}) == len(values)
    assert {value: i for i, value in enumerate(values)}[values[-1]] == len(values) - 1
    for value in values:
        assert (
            hash(value) == hash(copy.copy(value))
            if values not in (STREAMS, LOCAL_STREAMS)
            else True
        )


@pytest.mark.parametrize("values", [DTYPES, CATEGORIES, DEVICES, TYPES])
def test_copies_are_equal(values: list):
    for value in values:
        for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert again == value and hash(again) == hash(value) and type(again) is type(value)
            assert repr(again) == repr(value)


def test_texts():
    assert [repr(d) for d in DEVICES] == ["Device(cpu, 0)", "Device(gpu, 0)"]
    assert repr(mx.float32) == "mlx.core.float32" and repr(mx.bool_) == "mlx.core.bool"
    for kind, values in (("Stream", STREAMS), ("ThreadLocalStream", LOCAL_STREAMS)):
        for s in values:
            name = "cpu" if s.device == mx.cpu else "gpu"
            assert repr(s) == f"{kind}(Device({name}, {s.device.index}), {s.index})"


@pytest.mark.parametrize("kind, names", [(mx.DeviceType, KINDS), (mx.DtypeCategory, FAMILIES)])
def test_enumerations(kind: type[enum.Enum], names: list[str]):
    assert issubclass(kind, enum.Enum) and not issubclass(kind, int)
    members = [getattr(mx, name) for name in names]
    assert list(kind) == members and len(kind) == len(names)
    assert [member.name for member in kind] == names
    assert [member.value for member in kind] == list(range(len(names)))
    for name, member in zip(names, members):
        assert kind[name] is kind(member.value) is getattr(kind, name) is member
        assert member in kind and pickle.loads(pickle.dumps(member)) is member
        assert repr(member) == str(member) == f"{kind.__name__}.{name}"
        with pytest.raises(TypeError):
            int(member)
    assert mx.bool_ not in list(kind)
    with pytest.raises(KeyError):
        kind["tpu"]
    with pytest.raises(ValueError, match="99 is not a valid"):
        kind(99)


def test_what_belongs_to_a_category():
    signed = {mx.int8, mx.int16, mx.int32, mx.int64}
    unsigned = {mx.uint8, mx.uint16, mx.uint32, mx.uint64}
    floating = {mx.float16, mx.bfloat16, mx.float32, mx.float64}
    members = {
        mx.generic: set(DTYPES), mx.signedinteger: signed, mx.unsignedinteger: unsigned,
        mx.integer: signed | unsigned, mx.floating: floating, mx.complexfloating: {mx.complex64},
        mx.inexact: floating | {mx.complex64}, mx.number: set(DTYPES) - {mx.bool_},
    }  # fmt: skip
    for category, dtype in itertools.product(CATEGORIES, DTYPES):
        assert mx.issubdtype(dtype, category) is (dtype in members[category])
        assert mx.issubdtype(category, dtype) is False
    for a, b in itertools.product(CATEGORIES, repeat=2):
        assert mx.issubdtype(a, b) is (members[a] <= members[b])
    for a, b in itertools.product(DTYPES, repeat=2):
        assert mx.issubdtype(a, b) is (a == b)
    kinds = {
        "bool": {mx.bool_}, "signed integer": signed, "unsigned integer": unsigned,
        "integral": signed | unsigned, "real floating": floating,
        "complex floating": {mx.complex64}, "numeric": set(DTYPES) - {mx.bool_},
    }  # fmt: skip
    for dtype, (a, of_a), (b, of_b) in itertools.product(DTYPES, kinds.items(), kinds.items()):
        assert mx.isdtype(dtype, a) is (dtype in of_a)
        assert mx.isdtype(dtype, (a, b)) is (dtype in of_a | of_b)
        assert mx.isdtype(dtype, (a, dtype)) is True
        assert mx.isdtype(dtype, ()) is False
