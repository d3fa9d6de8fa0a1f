"""DLPack tensors written and read field by field, in every type, on every device and in every layout."""

import ctypes
from collections.abc import Iterator

import mlx.core as mx
import numpy as np
import pytest

CPU, CUDA_HOST, METAL, CUDA_MANAGED = 1, 3, 8, 13
READABLE = {CPU, CUDA_HOST, METAL, CUDA_MANAGED}
# The code of the protocol, and the type of arrays.
TYPES = {
    "bool": (6, mx.bool_),
    **{f"int{bits}": (0, getattr(mx, f"int{bits}")) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, getattr(mx, f"uint{bits}")) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, getattr(mx, f"float{bits}")) for bits in (16, 32, 64)},
    "complex64": (5, mx.complex64),
}
NAMES = {0: b"dltensor", 1: b"dltensor_versioned"}


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter))


class ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


STRUCTURES = {0: Managed, 1: ManagedVersioned}


def python_function(name: str, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


new_capsule = python_function(
    "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)
pointer_of = python_function(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
)
name_of = python_function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)


class Producer:
    """Another library's tensor; counts how often it is deleted."""

    def __init__(
        self, x: np.ndarray, version: int = 0, code: int | None = None, strides: bool = True,
        device: int = CPU, lanes: int = 1, bits: int = 0, offset: int = 0, shape=None, deletes=True,
    ):  # fmt: skip
        x = np.asarray(x)
        self.x, self.version, self.deleted = x, version, 0
        self.deleter = Deleter(self.delete) if deletes else Deleter()
        shape = x.shape if shape is None else shape
        self.shape = (ctypes.c_int64 * max(x.ndim, 1))(*shape)
        self.strides = (ctypes.c_int64 * max(x.ndim, 1))(*(s // x.itemsize for s in x.strides))
        self.managed = STRUCTURES[version]()
        if version:
            self.managed.major = version
        self.managed.deleter = self.deleter
        self.managed.tensor = Tensor(
            x.ctypes.data - offset, device, 0, x.ndim,
            TYPES[x.dtype.name][0] if code is None else code, bits or 8 * x.itemsize, lanes,
            self.shape, self.strides if strides else None, offset,
        )  # fmt: skip

    def delete(self, _: int) -> None:
        self.deleted += 1

    def __dlpack__(self, **_):
        name = NAMES[self.version]
        self.capsule = new_capsule(ctypes.addressof(self.managed), name, None)
        return self.capsule


def example(name: str) -> np.ndarray:
    x = np.arange(-30, 30).reshape(3, 4, 5).astype(name)
    return x * np.complex64(1 + 2j) if name == "complex64" else x


def layouts(x: np.ndarray) -> Iterator[np.ndarray]:
    yield from (x, x.T, x[::-1], x[:, ::2], x[..., 1:4], x[1], x[:, 1, ::-2], x[0, 0, 0])
    yield from (x[:0], x[:, :0], x[:1], x[:, :1], x[:, :1, :1], x.swapaxes(0, 1), x[1:2, 1:2, 1:2])
    yield np.broadcast_to(x[:, :1], x.shape)


@pytest.mark.parametrize("version", NAMES)
@pytest.mark.parametrize("name", TYPES)
def test_tensors_of_every_type_and_layout(name: str, version: int):
    for x in layouts(example(name)):
        producer = Producer(x, version)
        a = mx.from_dlpack(producer)
        dtype = mx.float32 if name == "float64" else TYPES[name][1]  # as in mx.array
        assert a.dtype == dtype and a.shape == x.shape
        np.testing.assert_array_equal(np.array(a), x)
        assert producer.deleted == 1
        assert name_of(producer.capsule) == b"used_" + NAMES[version]


def test_tensors_of_bfloat16():
    words = np.array([0x3F80, 0x4000, 0xC040], np.uint16)
    a = mx.from_dlpack(Producer(words, code=4))
    assert a.dtype == mx.bfloat16 and a.tolist() == [1, 2, -3]


@pytest.mark.parametrize("strides", [False, True])
def test_double_precision_complex_numbers_become_single(strides: bool):
    x = np.arange(12).reshape(3, 4) * (0.1 - 2j)
    for part in [x, x[:0]] if not strides else [x, x.T, x[::2, 1:], x[:0], x[:, ::-1]]:
        a = mx.from_dlpack(Producer(part, code=5, strides=strides))
        assert a.dtype == mx.complex64
        np.testing.assert_array_equal(np.array(a), part.astype(np.complex64), strict=True)


def test_optional_fields():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for fields in ({"strides": False}, {"offset": 16}, {"deletes": False}):
        assert mx.from_dlpack(Producer(x, **fields)).tolist() == x.tolist()
    assert mx.from_dlpack(Producer(x.T, offset=8)).tolist() == x.T.tolist()


@pytest.mark.parametrize("device", range(19))
def test_the_host_reads_the_memory_of_some_devices(device: int):
    producer = Producer(np.arange(3, dtype=np.int32), device=device)
    if device in READABLE:
        assert mx.from_dlpack(producer).tolist() == [0, 1, 2]
        assert producer.deleted == 1
        return
    with pytest.raises(ValueError, match=rf"\[from_dlpack\] .*\(type {device}\)"):
        mx.from_dlpack(producer)
    assert producer.deleted == 0 and name_of(producer.capsule) == NAMES[0]


@pytest.mark.parametrize("code", range(9))
def test_unsupported_types_are_named(code: int):
    supported = {(code, mx_type.size * 8) for code, mx_type in TYPES.values()} | {(4, 16), (5, 128)}
    x = np.zeros(4, np.complex128)
    for bits in (4, 8, 16, 32, 64, 128):
        for lanes in (1, 2):
            producer = Producer(x, code=code, bits=bits, lanes=lanes)
            if lanes == 1 and (code, bits) in supported:
                assert mx.from_dlpack(producer).shape == (4,)
                continue
            with pytest.raises(ValueError, match=f"code {code}, {bits} bits, {lanes} lanes"):
                mx.from_dlpack(producer)
            assert producer.deleted == 0


@pytest.mark.parametrize("extent", [-1, 1 << 31])
def test_extents_that_arrays_cannot_have(extent: int):
    with pytest.raises(ValueError, match=rf"\[from_dlpack\].* {extent} elements along axis 1"):
        mx.from_dlpack(Producer(np.zeros((2, 3)), shape=(2, extent)))


def test_producers_of_something_else():
    class Other:
        def __dlpack__(self, **_):
            return new_capsule(id(self), b"other", None)

    with pytest.raises(ValueError, match="no usable capsule"):
        mx.from_dlpack(Other())


class Failing:
    def __init__(self, error: type[Exception]):
        self.error = error

    def __dlpack__(self, **_):
        raise self.error("as asked")


@pytest.mark.parametrize("error", [ValueError, KeyError, BufferError, TypeError])
def test_errors_of_producers_are_passed_on(error: type[Exception]):
    with pytest.raises(error, match="as asked"):
        mx.from_dlpack(Failing(error))


def test_producers_of_the_first_version():
    class First(Producer):
        def __dlpack__(self):
            return super().__dlpack__()

    assert mx.from_dlpack(First(np.arange(3))).tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", [*TYPES, "bfloat16"])
def test_what_arrays_export(name: str):
    code, dtype = TYPES.get(name, (4, mx.bfloat16))
    with mx.stream(mx.cpu):  # float64 is for the host only
        a = mx.arange(24).reshape(2, 3, 4).astype(dtype)
        views = [a, a.T, a[1], a[:, :, 1:3], a[:0], a[0, 0, 0]]
        mx.eval(views)
    for a in views:
        for version in NAMES:
            capsule = a.__dlpack__(max_version=(version, 0))
            assert name_of(capsule) == NAMES[version]
            address = pointer_of(capsule, NAMES[version])
            managed = STRUCTURES[version].from_address(address)
            tensor = managed.tensor
            assert (tensor.device_type, tensor.device_id) == (CPU, 0)
            assert (tensor.code, tensor.bits, tensor.lanes) == (code, 8 * a.itemsize, 1)
            assert tuple(tensor.shape[: tensor.ndim]) == a.shape
            assert tensor.byte_offset == 0
            assert (tensor.data is None) == (a.size == 0)
            if version:
                assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
            if a.size and name != "bfloat16":
                view = np.array(a, copy=False)
                assert tensor.data == view.ctypes.data
                strides = [stride // a.itemsize for stride in view.strides]
                assert tensor.strides[: tensor.ndim] == strides


def test_versions_devices_and_copies_that_consumers_ask_for():
    a = mx.array([1, 2])
    for version, found in ((None, 0), ((0, 8), 0), ((1, 0), 1), ((1, 1), 1), ((2, 0), 1)):
        assert name_of(a.__dlpack__(max_version=version)) == NAMES[found]
    a.__dlpack__(dl_device=(CPU, 0))
    for device in set(range(19)) - {CPU}:
        with pytest.raises(BufferError, match=r"\[__dlpack__\]"):
            a.__dlpack__(dl_device=(device, 0))


@pytest.mark.parametrize("version", NAMES)
def test_copies_have_memory_of_their_own(version: int):
    a = mx.arange(24).reshape(2, 3, 4)
    for view in (a, a.T, a[:, ::2], a[1, 2, 3], a[:0]):
        mx.eval(view)
        for copy in (None, False, True):
            capsule = view.__dlpack__(max_version=(version, 0), copy=copy)
            managed = STRUCTURES[version].from_address(pointer_of(capsule, NAMES[version]))
            assert getattr(managed, "flags", 2 * bool(copy)) == 2 * bool(copy)
            own = managed.tensor.data == np.array(view, copy=False).ctypes.data
            assert view.size == 0 or own != bool(copy)
        x = np.from_dlpack(view, copy=True)
        want = view.tolist()
        assert x.tolist() == want
        x += 100
        assert view.tolist() == want
