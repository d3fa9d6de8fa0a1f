"""Makes arrays and files of arrays, for the tests of files."""

import struct

import ml_dtypes
import mlx.core as mx
import numpy as np

DTYPES = [
    mx.bool_,
    mx.uint8,
    mx.uint16,
    mx.uint32,
    mx.uint64,
    mx.int8,
    mx.int16,
    mx.int32,
    mx.int64,
    mx.float16,
    mx.bfloat16,
    mx.float32,
    mx.float64,
    mx.complex64,
]
GGUF_DTYPES = [
    mx.float32,
    mx.float16,
    mx.bfloat16,
    mx.int8,
    mx.int16,
    mx.int32,
    mx.int64,
    mx.float64,
]
SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 0, 3), (2, 3, 4, 5), (1,) * 7]
FORMATS = ["npy", "npz", "safetensors", "gguf"]


def numpy_type(dtype):
    return np.dtype(
        ml_dtypes.bfloat16 if dtype == mx.bfloat16 else str(dtype).removeprefix("mlx.core.")
    )


def values(dtype, shape, seed=0):
    """Random elements as a NumPy array; any bytes except those of NaN."""
    rng = np.random.default_rng(seed)
    kind = numpy_type(dtype)
    if dtype == mx.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == mx.complex64:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    if mx.issubdtype(dtype, mx.integer):
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    return np.asarray(rng.standard_normal(shape)).astype(kind)


def array_of(x):
    return mx.array(x, dtype=mx.float64) if x.dtype == np.float64 else mx.array(x)


def same(got, want):
    assert isinstance(got, mx.array) and got.shape == want.shape
    assert numpy_type(got.dtype) == want.dtype
    with mx.stream(mx.cpu):
        got = got.view(mx.uint16) if got.dtype == mx.bfloat16 else got
    want = want.view(np.uint16) if want.dtype == ml_dtypes.bfloat16 else want
    np.testing.assert_array_equal(np.array(got), want)


def same_dict(got, want):
    assert sorted(got) == sorted(want)
    for name in want:
        same(got[name], want[name])


def save_dict(form, file, arrays):
    given = {name: array_of(x) for name, x in arrays.items()}
    if form == "npz":
        mx.savez(file, **given)
    elif form == "safetensors":
        mx.save_safetensors(file, given)
    else:
        mx.save_gguf(file, given)


def valid_file(form, path):
    """A file with several types, and its contents."""
    x = values(mx.float32, (4, 6))
    if form == "npy":
        mx.save(path, mx.array(x))
        return x
    arrays = {"x": x, "half": values(mx.float16, (3,)), "n": values(mx.int32, (2, 1, 3))}
    save_dict(form, path, arrays)
    return arrays


def gguf_bytes(tensors=(), pairs=(), version=3, alignment=32):
    """A file of (name, extents, type, data) and of (key, type, bytes)."""

    def text(s):
        return struct.pack("<Q", len(s.encode())) + s.encode()

    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    for key, kind, value in pairs:
        out += text(key) + struct.pack("<I", kind) + value
    data = b""
    for name, extents, kind, elements in tensors:
        data += bytes(-len(data) % alignment)
        out += text(name) + struct.pack("<I", len(extents))
        out += b"".join(struct.pack("<Q", n) for n in reversed(extents))
        out += struct.pack("<IQ", kind, len(data))
        data += elements
    return out + bytes(-len(out) % alignment) + data
