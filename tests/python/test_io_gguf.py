"""The format GGUF, compared with the package gguf."""

import os
import struct

import mlx.core as mx
import numpy as np
import pytest
from array_files import DTYPES, GGUF_DTYPES, array_of, gguf_bytes, same, same_dict, values


def same_metadata(got, want):
    assert sorted(got) == sorted(want)
    for key, value in want.items():
        if isinstance(value, mx.array):
            assert got[key].dtype == value.dtype and got[key].shape == value.shape
            assert np.array_equal(np.array(got[key]), np.array(value))
        else:
            assert got[key] == value


def test_gguf_metadata(tmp_path):
    path = tmp_path / "x.gguf"
    kinds = [d for d in DTYPES if d not in (mx.float16, mx.bfloat16, mx.complex64)]
    metadata = {f"one.{d}": array_of(values(d, ())) for d in kinds}
    metadata |= {f"many.{d}": array_of(values(d, (5,))) for d in kinds}
    metadata |= {"none": mx.zeros(0), "text": "é \0 \n", "texts": ["a", "", "bc"], "no texts": []}
    metadata["broken"] = b"\xff\xfe".decode("utf-8", "surrogateescape")
    mx.save_gguf(path, {"a": mx.array([1.0])}, metadata)
    arrays, got = mx.load(path, return_metadata=True)
    same_metadata(got, metadata)
    assert arrays["a"].tolist() == [1] and list(mx.load(path)) == ["a"]
    mx.save_gguf(path, {})
    assert mx.load(path, return_metadata=True) == ({}, {})


@pytest.mark.parametrize("shift", range(9))
def test_gguf_fields_lie_across_the_buffer_of_the_reader(shift, tmp_path):
    """The reader's buffer has 64 KiB. Each shift moves its end by a byte within the fields."""
    path = tmp_path / "x.gguf"
    metadata = {"a": "x" * shift}
    metadata |= {f"number.{i:04}": mx.array(i << 32 | i) for i in range(3000)}
    metadata |= {f"text.{i:04}": f"{i}" * (i % 7) for i in range(3000)}
    metadata |= {f"texts.{n}": [chr(n % 26 + 97) * n, "b"] for n in range(65533, 65540)}
    arrays = {f"array.{i:04}": np.full((1, i % 3 + 1), i, np.int32) for i in range(3000)}
    mx.save_gguf(path, {name: mx.array(x) for name, x in arrays.items()}, metadata)
    loaded, got = mx.load(path, return_metadata=True)
    same_metadata(got, metadata)
    same_dict(loaded, arrays)


def test_gguf_that_cannot_be_saved(tmp_path):
    a = mx.zeros(2)
    cases = [
        ({"a": mx.zeros(2, mx.uint8)}, {}, 'no type for arrays of uint8, such as "a"'),
        ({"a": mx.zeros((1,) * 9)}, {}, "has 9 axes: at most 8"),
        ({"a": a}, {"k": mx.zeros((2, 2))}, r'The metadata "k" are an array of shape \(2,2\)'),
        ({"a": a}, {"k": mx.zeros(2, mx.float16)}, "type float16"),
        ({"a": a}, {"general.alignment": mx.array(24, mx.uint32)}, "must be a power of two"),
        ({"a": a}, {"general.alignment": "32"}, "must be a power of two"),
    ]
    for arrays, metadata, message in cases:
        with pytest.raises(ValueError, match=rf"\[save_gguf\].*{message}"):
            mx.save_gguf(tmp_path / "x.gguf", arrays, metadata)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("alignment", [1, 8, 32, 4096])
def test_gguf_alignment(alignment, tmp_path):
    arrays = {name: values(mx.float32, (5,), seed) for seed, name in enumerate("abc")}
    given = {name: mx.array(x) for name, x in arrays.items()}
    path = tmp_path / "x.gguf"
    mx.save_gguf(path, given, {"general.alignment": mx.array(alignment, mx.uint32)})
    same_dict(mx.load(path), arrays)
    assert path.stat().st_size % alignment == 0


def test_the_package_gguf_reads(tmp_path):
    import gguf

    arrays = {
        f"{dtype}{shape}": values(dtype, shape)
        for dtype in GGUF_DTYPES
        for shape in [(1,), (7,), (3, 5), (2, 3, 4, 5)]
    }
    path = tmp_path / "x.gguf"
    metadata = {
        "general.architecture": "none",
        "n": mx.array(7, mx.uint32),
        "scales": mx.array([1.5, 2.5]),
        "words": ["a", "b"],
        "flag": mx.array(True),
    }
    mx.save_gguf(path, {n: array_of(x) for n, x in arrays.items()}, metadata)
    reader = gguf.GGUFReader(path)
    assert sorted(t.name for t in reader.tensors) == sorted(arrays)
    for tensor in reader.tensors:
        want = arrays[tensor.name]
        assert tuple(tensor.shape[::-1]) == want.shape
        assert tensor.data.tobytes() == want.tobytes()
    assert reader.fields["general.architecture"].contents() == "none"
    assert reader.fields["n"].contents() == 7
    assert reader.fields["scales"].contents() == [1.5, 2.5]
    assert reader.fields["words"].contents() == ["a", "b"]
    assert reader.fields["flag"].contents() is True


def test_the_package_gguf_writes(tmp_path):
    import gguf

    path = tmp_path / "x.gguf"
    arrays = {str(dtype): values(dtype, (3, 4)) for dtype in GGUF_DTYPES if dtype != mx.bfloat16}
    writer = gguf.GGUFWriter(path, "test")
    writer.add_uint8("u8", 250)
    writer.add_int64("i64", -(2**40))
    writer.add_float64("f64", 0.1)
    writer.add_bool("flag", True)
    writer.add_string("text", "héllo")
    writer.add_array("words", ["x", "yz"])
    writer.add_array("ints", [1, 2, 3])
    for name, x in arrays.items():
        writer.add_tensor(name, x)
    bits = values(mx.bfloat16, (2, 8))
    writer.add_tensor("bf16", bits.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    got, metadata = mx.load(path, return_metadata=True)
    same_dict(got, arrays | {"bf16": bits})
    want = {
        "general.architecture": "test",
        "u8": mx.array(250, mx.uint8),
        "i64": mx.array(-(2**40), mx.int64),
        "f64": mx.array(0.1, mx.float64),
        "flag": mx.array(True),
        "text": "héllo",
        "words": ["x", "yz"],
        "ints": mx.array([1, 2, 3]),
    }
    same_metadata(metadata, want)


def quantized_blocks(kind, rows, blocks, rng):
    """Random blocks, and their weights as GGUF defines them."""
    shape = (rows, blocks)
    scale = rng.standard_normal(shape).astype(np.float16)
    parts, weights = [scale[..., None].view(np.uint8)], None
    if kind == 8:
        q = rng.integers(-128, 128, (*shape, 32)).astype(np.int8)
        parts.append(q.view(np.uint8))
        weights = scale[..., None].astype(np.float64) * q
    else:
        packed = rng.integers(0, 256, (*shape, 16)).astype(np.uint8)
        q = np.concatenate([packed & 15, packed >> 4], -1).astype(np.float64)
        if kind == 3:
            minimum = rng.standard_normal(shape).astype(np.float16)
            parts.append(minimum[..., None].view(np.uint8))
            weights = scale[..., None] * q + minimum[..., None].astype(np.float64)
        else:
            weights = scale[..., None] * (q - 8)
        parts.append(packed)
    return np.concatenate(parts, -1).tobytes(), weights.reshape(rows, blocks * 32)


def dequantized(packed, scales, biases, bits):
    """The weights of MLX's affine layout in groups of 32, in double precision."""
    packed = np.array(packed)
    per_word = 32 // bits
    shifts = np.arange(per_word, dtype=np.uint32) * bits
    q = (packed[..., None] >> shifts) & (2**bits - 1)
    q = q.reshape(*packed.shape[:-1], -1, 32).astype(np.float64)
    scales, biases = (np.array(x).astype(np.float64)[..., None] for x in (scales, biases))
    return (scales * q + biases).reshape(*packed.shape[:-1], -1)


@pytest.mark.parametrize("kind, bits", [(2, 4), (3, 4), (8, 8)])
@pytest.mark.parametrize("name", ["layer.weight", "layer"])
@pytest.mark.parametrize("stream", [mx.cpu, mx.gpu])
def test_quantised_gguf(kind, bits, name, stream, rng, tmp_path):
    data, weights = quantized_blocks(kind, 6, 4, rng)
    x = values(mx.float32, (3,))
    path = tmp_path / "q.gguf"
    path.write_bytes(gguf_bytes([(name, (2, 3, 128), kind, data), ("x", (3,), 0, x.tobytes())]))
    got = mx.load(path, stream=stream)
    assert sorted(got) == sorted([name, "layer.scales", "layer.biases", "x"])
    same(got["x"], x)
    assert got[name].dtype == mx.uint32 and got[name].shape == (2, 3, 128 * bits // 32)
    for part in ("layer.scales", "layer.biases"):
        assert got[part].dtype == mx.float16 and got[part].shape == (2, 3, 4)
    back = dequantized(got[name], got["layer.scales"], got["layer.biases"], bits)
    np.testing.assert_array_equal(back.reshape(weights.shape), weights)


def test_gguf_that_the_package_quantised(rng, tmp_path):
    import gguf
    from gguf.quants import dequantize, quantize

    x = rng.standard_normal((4, 96)).astype(np.float32)
    for kind, bits in ((gguf.GGMLQuantizationType.Q4_0, 4), (gguf.GGMLQuantizationType.Q8_0, 8)):
        blocks = quantize(x, kind)
        path = tmp_path / "q.gguf"
        path.write_bytes(gguf_bytes([("w", x.shape, int(kind), blocks.tobytes())], version=2))
        got = mx.load(path)
        back = dequantized(got["w"], got["w.scales"], got["w.biases"], bits)
        np.testing.assert_allclose(back, dequantize(blocks, kind), rtol=1e-6)


def number_pair(key, kind, form, value):
    return key, kind, struct.pack(form, value)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"GGUF", "too short for the format GGUF"),
        (b"GGML" + bytes(20), "not a file in the format GGUF"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "Big-endian files"),
        (gguf_bytes(version=1), "Version 1 of the format GGUF is unknown"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "ends within the descriptions of arrays"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "ends within the metadata"),
        (gguf_bytes([("a", (2,), 14, b"")]), 'array "a": Elements of type Q6_K are not supported'),
        (gguf_bytes([("a", (2,), 99, b"")]), "Elements of type number 99 are not supported"),
        (gguf_bytes([("a", (2,), 0, b"1234567")]), "needs 8 bytes, but 7 are there"),
        (gguf_bytes([("a", (2**40,), 0, b"")]), "An axis of 1099511627776 elements is too long"),
        (gguf_bytes([("a", (1,) * 9, 0, b"1234")]), "is said to have 9 axes"),
        (gguf_bytes([("a", (33,), 2, bytes(64))]), "a multiple of 32 elements"),
        (gguf_bytes([("a", (), 2, bytes(64))]), "a multiple of 32 elements"),
        (gguf_bytes([("a", (64,), 2, bytes(35))]), "needs 36 bytes, but 35 are there"),
        (gguf_bytes([("a", (1,), 0, b"1234"), ("a", (1,), 0, b"1234")]), 'called "a"'),
        (gguf_bytes(pairs=[("k", 99, b"1234")]), 'metadata "k": Values of type 99 are unknown'),
        (gguf_bytes(pairs=[("k", 9, struct.pack("<IQ", 9, 1))]), "Arrays of arrays"),
        (gguf_bytes(pairs=[("k", 9, struct.pack("<IQ", 6, 2**62))]), "is too long"),
        (gguf_bytes(pairs=[("k", 9, struct.pack("<IQ", 6, 2**30))]), "needs 4294967296 bytes"),
        (gguf_bytes(pairs=[("k", 9, struct.pack("<IQ", 8, 2**62))]), "ends within the metadata"),
        (gguf_bytes(pairs=[("k", 8, struct.pack("<Q", 2**62))]), "ends within the metadata"),
        (gguf_bytes(pairs=[number_pair("k", 0, "<B", 1)] * 2), 'two values for "k"'),
        (gguf_bytes(pairs=[number_pair("general.alignment", 4, "<I", 3)]), "not a power of two"),
        (gguf_bytes(pairs=[number_pair("general.alignment", 4, "<I", 0)]), "not a power of two"),
        (gguf_bytes(pairs=[number_pair("general.alignment", 10, "<Q", 32)]), "not a power of two"),
        (gguf_bytes([("\u00e9", (2,), 14, b"")]), r'array "\\xc3\\xa9"'),
    ],
)
def test_gguf_that_is_refused(data, message, tmp_path):
    (tmp_path / "bad.gguf").write_bytes(data)
    with pytest.raises(RuntimeError, match=f"bad.gguf.*{message}"):
        mx.load(tmp_path / "bad.gguf")
