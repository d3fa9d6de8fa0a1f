"""NumPy's formats npy and npz, compared with NumPy."""

import io
import os
import struct
import zipfile

import ml_dtypes
import mlx.core as mx
import numpy as np
import pytest
from array_files import DTYPES, SHAPES, array_of, same, same_dict, values


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_reads_npy(dtype, shape, tmp_path):
    x = values(dtype, shape)
    mx.save(tmp_path / "x.npy", array_of(x))
    got = np.load(tmp_path / "x.npy")
    if dtype == mx.bfloat16:
        assert got.dtype == np.dtype("V2")
        got = got.view(ml_dtypes.bfloat16)
    assert got.shape == x.shape and got.dtype == x.dtype and got.tobytes() == x.tobytes()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0), None])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_npy_of_numpy(version, order, byte_order):
    for dtype in DTYPES:
        for shape in SHAPES:
            x = values(dtype, shape)
            stored = np.array(x, order=order)
            if dtype != mx.bfloat16:
                stored = stored.astype(stored.dtype.newbyteorder(byte_order), order=order)
            file = io.BytesIO()
            np.lib.format.write_array(file, stored, version)
            file.seek(0)
            same(mx.load(file, "npy"), x)


def test_npy_of_numpy_from_a_path(tmp_path):
    x = values(mx.complex64, (4, 5, 6))
    np.save(tmp_path / "x.npy", np.asfortranarray(x.astype(">c8")))
    same(mx.load(tmp_path / "x.npy"), x)


def npy_bytes(header, data=b"", version=1):
    text = header.encode()
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + len(text).to_bytes(2 if version == 1 else 4, "little")
        + text
        + data
    )


def npy_header(descr="'<f4'", order="False", shape="(2,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def test_headers_that_python_2_wrote():
    data = npy_bytes(npy_header(shape="(2L,)"), struct.pack("<2f", 1, 2))
    assert mx.load(io.BytesIO(data), "npy").tolist() == [1, 2]


def test_bytes_of_bool_other_than_0_and_1_are_true():
    data = npy_bytes(npy_header("'|b1'", shape="(4,)"), b"\x00\x01\x02\xff")
    assert mx.load(io.BytesIO(data), "npy").tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "too short for the format npy"),
        (b"\x93NUMPY\x01", "too short"),
        (b"hello, this is a text", "not a file in the format npy"),
        (npy_bytes(npy_header(), version=4), r"Version 4.0 of the format npy is unknown"),
        (npy_bytes(npy_header())[:40], "The header is said to have"),
        (npy_bytes(npy_header(), b"1234567"), r"shape \(2\) and type float32 needs 8 bytes, but 7"),
        (npy_bytes(npy_header("'<f16'")), 'type "<f16" are not supported'),
        (npy_bytes(npy_header("'<c16'")), 'type "<c16" are not supported'),
        (npy_bytes(npy_header("'|O'")), r'type "\|O" are not supported'),
        (npy_bytes(npy_header("'<U3'")), 'type "<U3" are not supported'),
        (npy_bytes(npy_header("[('a', '<f4')]")), "Elements with fields are not supported"),
        (npy_bytes(npy_header(order="1")), "lacks True or False"),
        (npy_bytes(npy_header(shape="(-2,)")), "lacks a number that is not negative"),
        (npy_bytes(npy_header(shape="(3000000000,)")), "An axis of 3000000000 elements is too"),
        (npy_bytes(npy_header(shape="(99999999999999999999,)")), "has a number that is too large"),
        (npy_bytes(npy_header(shape="(2147483647, 2147483647, 2147483647)")), "too many elements"),
        (npy_bytes(npy_header(shape="(0,2147483647,2147483647,2147483647)")), "too many elements"),
        (npy_bytes(npy_header(shape="(2147483647, 1)")), "needs 8589934588 bytes, but 0 are there"),
        (npy_bytes("{'descr': '<f4', 'shape': (2,)}"), 'does not name "fortran_order"'),
        (npy_bytes(npy_header()[:-1]), r"lacks a string"),
        (npy_bytes(npy_header() + "x"), "goes on after its end"),
        (npy_bytes("{'descr': '<f4', 'descr': '<f4'}"), 'names "descr" twice'),
        (npy_bytes("{'a': 3}"), 'has an unknown key "a"'),
        (npy_bytes(npy_header("'<f4")), "lacks a ','|lacks a '}'"),
    ],
)
def test_npy_that_is_refused(data, message, tmp_path):
    (tmp_path / "bad.npy").write_bytes(data)
    with pytest.raises(RuntimeError, match=f'(?s)"[^"]*bad.npy".*{message}'):
        mx.load(tmp_path / "bad.npy")
    with pytest.raises(RuntimeError, match=f"(?s)BytesIO.*{message}"):
        mx.load(io.BytesIO(data), "npy")


def test_long_headers_of_npy():
    shape = (1,) * 30000
    try:
        a = mx.zeros(shape, mx.int8)
    except ValueError:
        pytest.fail("the shape is small enough")
    file = io.BytesIO()
    mx.save(file, a)
    assert file.getvalue()[6] == 2
    file.seek(0)
    assert mx.load(file, "npy").shape == shape


# ---- npz ----


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy(save, tmp_path):
    arrays = {str(dtype): values(dtype, (3, 4)) for dtype in DTYPES if dtype != mx.bfloat16}
    arrays |= {
        "a name/with things é": np.asfortranarray(values(mx.int32, (3, 4))),
        "0": np.float32(2),
    }
    save(tmp_path / "x.npz", **arrays)
    same_dict(mx.load(tmp_path / "x.npz"), arrays)
    file = io.BytesIO()
    file.write(b"#" * 11)
    save(file, arrays["0"], b=arrays["0"])
    file.seek(11)
    same_dict(mx.load(file, "npz"), {"arr_0": arrays["0"], "b": arrays["0"]})


@pytest.mark.parametrize("save", [mx.savez, mx.savez_compressed])
def test_numpy_reads_npz(save, tmp_path):
    arrays = {str(dtype): values(dtype, (30, 40)) for dtype in DTYPES if dtype != mx.bfloat16}
    arrays |= {"zeros": np.zeros((100, 100), np.float32), "empty": np.zeros((0, 2), np.int8)}
    arrays["é"] = np.array(3, np.int64)
    save(tmp_path / "x", array_of(arrays["zeros"]), **{n: array_of(x) for n, x in arrays.items()})
    with np.load(tmp_path / "x.npz") as got:
        assert sorted(got) == sorted([*arrays, "arr_0"])
        for name, x in arrays.items():
            assert got[name].dtype == x.dtype and np.array_equal(got[name], x)
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        assert archive.testzip() is None
        compressed = archive.getinfo("zeros.npy").compress_type == zipfile.ZIP_DEFLATED
        assert compressed == (save is mx.savez_compressed)
        assert (archive.getinfo("zeros.npy").compress_size < 1000) == compressed


def test_numpy_reads_npz_within_a_file():
    file = io.BytesIO()
    file.write(b"#" * 100)
    mx.savez(file, mx.array([1, 2]))
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert np.array_equal(np.load(io.BytesIO(archive.read("arr_0.npy"))), [1, 2])


def test_npz_without_arrays(tmp_path):
    mx.savez(tmp_path / "x.npz")
    assert mx.load(tmp_path / "x.npz") == {} and list(np.load(tmp_path / "x.npz")) == []
    np.savez(tmp_path / "y.npz")
    assert mx.load(tmp_path / "y.npz") == {}


def test_the_same_arrays_give_the_same_npz():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        mx.savez(file, a=mx.zeros(3), b=mx.ones(2))
    assert files[0].getvalue() == files[1].getvalue()


def test_names_in_npz(tmp_path):
    with pytest.raises(ValueError, match='The name "arr_0" is that of an array without one'):
        mx.savez(tmp_path / "x", mx.zeros(1), arr_0=mx.zeros(1))
    with pytest.raises(ValueError, match="zero byte"):
        mx.savez(tmp_path / "x", **{"a\0b": mx.zeros(1)})
    assert os.listdir(tmp_path) == []


def zip_of(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def test_npz_that_is_refused(tmp_path):
    path = tmp_path / "bad.npz"
    good = npy_bytes(npy_header(), b"12345678")
    claims = bytearray(zip_of([("a.npy", good)], zipfile.ZIP_DEFLATED))
    directory = claims.index(b"PK\x01\x02")
    claims[directory + 24 : directory + 28] = struct.pack("<I", 2**31)
    for data in (b"", b"PK\x03\x04 and nothing", zip_of([("a.npy", good)])[:-5]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="bad.npz.*not a file in the format npz"):
            mx.load(path)
    cases = [
        (zip_of([("a.txt", b"hello, this is a text")]), 'member "a.txt": This is not a file in'),
        (zip_of([("a.npy", good[:-1])]), 'member "a.npy".*needs 8 bytes, but 7 are there'),
        (zip_of([("a.npy", good), ("a", good)]), 'Two members are called "a'),
        (zip_of([("a.npy", good)], zipfile.ZIP_LZMA), 'Member "a.npy" is compressed by method 14'),
        (bytes(claims), 'Member "a.npy" is said to have more bytes than the archive can hold'),
    ]
    for data, message in cases:
        path.write_bytes(data)
        with pytest.raises(RuntimeError, match=f"bad.npz.*{message}"):
            mx.load(path)
