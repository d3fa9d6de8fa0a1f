"""The format safetensors, compared with the package safetensors."""

import os
import struct

import mlx.core as mx
import numpy as np
import pytest
from array_files import DTYPES, SHAPES, array_of, same_dict, values


def safetensors_bytes(header, data=b""):
    text = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors_metadata(tmp_path):
    path = tmp_path / "x.safetensors"
    metadata = {"format": "mlx", "é\n": '"quoted" \u4e2d', "empty": ""}
    mx.save_safetensors(path, {"a": mx.array([1.0])}, metadata)
    arrays, got = mx.load(path, return_metadata=True)
    assert got == metadata and arrays["a"].tolist() == [1]
    assert list(mx.load(path)) == ["a"]
    mx.save_safetensors(path, {})
    assert mx.load(path, return_metadata=True) == ({}, {})


@pytest.mark.parametrize("direction", ["write", "read"])
def test_the_package_safetensors(direction, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    arrays = {
        f"{dtype}{shape}": values(dtype, shape)
        for dtype in DTYPES
        if dtype not in (mx.complex64, mx.bfloat16)
        for shape in SHAPES
    }
    path = str(tmp_path / "x.safetensors")
    if direction == "write":
        mx.save_safetensors(path, {n: array_of(x) for n, x in arrays.items()}, {"a": "b"})
        got = load_file(path)
        assert sorted(got) == sorted(arrays)
        for name, x in arrays.items():
            assert got[name].dtype == x.dtype and np.array_equal(got[name], x)
        with safe_open(path, "numpy") as file:
            assert file.metadata() == {"a": "b"}
    else:
        save_file(arrays, path, {"a": "b"})
        got, metadata = mx.load(path, return_metadata=True)
        same_dict(got, arrays)
        assert metadata == {"a": "b"}


def test_the_package_safetensors_knows_our_types(tmp_path):
    import json

    path = tmp_path / "x.safetensors"
    mx.save_safetensors(path, {str(d): array_of(values(d, (3,))) for d in DTYPES})
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    assert header["mlx.core.bfloat16"]["dtype"] == "BF16"
    assert header["mlx.core.complex64"]["dtype"] == "C64"
    assert (8 + length) % 8 == 0


def entry(dtype='"F32"', shape="[2]", offsets="[0, 8]"):
    return f'{{"a": {{"dtype": {dtype}, "shape": {shape}, "data_offsets": {offsets}}}}}'


@pytest.mark.parametrize(
    "data, message",
    [
        (b"1234567", "too short for the format safetensors"),
        (struct.pack("<Q", 2**63) + b"{}", "The header is said to have 9223372036854775808 bytes"),
        (struct.pack("<Q", 3) + b"{}", "The header is said to have 3 bytes"),
        (safetensors_bytes("[]"), "The header is not an object in JSON"),
        (safetensors_bytes("{"), "The header is not an object in JSON"),
        (safetensors_bytes("[" * 100000), "The header is not an object in JSON"),
        (safetensors_bytes(b'{"\xff": 3}'), "The header is not an object in JSON"),
        (safetensors_bytes('{"a": 3}'), 'array "a": The header does not give its dtype'),
        (safetensors_bytes('{"__metadata__": 3}'), "The metadata are not an object"),
        (safetensors_bytes('{"__metadata__": {"a": 3}}'), 'The metadata "a" are not a string'),
        (safetensors_bytes(entry('"F8_E5M2"'), b"12345678"), 'type "F8_E5M2" are not supported'),
        (safetensors_bytes(entry("3"), b"12345678"), 'type "number" are not supported'),
        (safetensors_bytes(entry(), b"1234567"), "must be a beginning and an end within 7 bytes"),
        (safetensors_bytes(entry(offsets="[8, 0]"), b"12345678"), "must be a beginning and an"),
        (safetensors_bytes(entry(offsets="[0, 8, 8]"), b"12345678"), "must be a beginning and"),
        (safetensors_bytes(entry(offsets="[-1, 7]"), b"12345678"), "must be whole numbers"),
        (safetensors_bytes(entry(offsets="7"), b"12345678"), "must be whole numbers"),
        (safetensors_bytes(entry(shape="[1.5]"), b"12345678"), "must be whole numbers"),
        (safetensors_bytes(entry(shape="[3]"), b"12345678"), "needs 12 bytes, but 8 are there"),
        (safetensors_bytes(entry(shape="[1]"), b"12345678"), "does not have 8 bytes"),
        (safetensors_bytes(entry(), b"123456789"), "The arrays end at byte 8, but the file has 9"),
        (safetensors_bytes(entry(offsets="[1, 9]"), b"123456789"), '"a" begins at byte 1, but'),
        (
            safetensors_bytes(entry(shape="[0, 18446744073709551615]"), b""),
            "within 0 bytes|too long",
        ),
        (
            safetensors_bytes(
                entry()[:-1] + ', "b": ' + entry(offsets="[4, 12]")[6:-1] + "}", b"0" * 12
            ),
            'Array "b" begins at byte 4, but the one before ends at byte 8',
        ),
    ],
)
def test_safetensors_that_are_refused(data, message, tmp_path):
    (tmp_path / "bad.safetensors").write_bytes(data)
    with pytest.raises(RuntimeError, match=f"bad.safetensors.*({message})"):
        mx.load(tmp_path / "bad.safetensors")


def test_names_in_safetensors(tmp_path):
    with pytest.raises(ValueError, match="No array can be called __metadata__"):
        mx.save_safetensors(tmp_path / "x", {"__metadata__": mx.zeros(1)})
    with pytest.raises(ValueError, match="must be UTF-8"):
        mx.save_safetensors(tmp_path / "x", {"\udcff": mx.zeros(1)})
    assert os.listdir(tmp_path) == []
