"""Arrays in file objects: positions, names, and errors of their methods."""

import io

import mlx.core as mx
import numpy as np
import pytest
from array_files import array_of, same, same_dict, save_dict, valid_file, values


class Recorder(io.BytesIO):
    """A file that writes a few bytes at a time, as an unbuffered file may."""

    def write(self, data):
        return super().write(data[:1000])


@pytest.mark.parametrize("form", ["npy", "npz", "safetensors"])
@pytest.mark.parametrize("start", [0, 13])
@pytest.mark.parametrize("kind", [io.BytesIO, Recorder, "file", "unbuffered"])
def test_file_objects(form, start, kind, tmp_path):
    x = values(mx.float32, (40, 30))
    if isinstance(kind, str):
        file = open(tmp_path / "x.bin", "w+b", buffering=0 if kind == "unbuffered" else -1)
    else:
        file = kind()
    with file:
        file.write(b"#" * start)
        if form == "npy":
            mx.save(file, mx.array(x))
        else:
            save_dict(form, file, {"x": x})
        end = file.seek(0, 2)
        file.seek(start)
        loaded = mx.load(file, format=form)
        assert form != "npy" or file.tell() == end
    same(loaded if form == "npy" else loaded["x"], x)


def test_several_arrays_in_one_file_object():
    file = io.BytesIO()
    arrays = [values(dtype, (3, 2)) for dtype in (mx.float32, mx.int8, mx.bfloat16)]
    arrays.insert(1, np.zeros((0, 4), np.float32))
    for x in arrays:
        mx.save(file, array_of(x))
    file.seek(0)
    for x in arrays:
        same(mx.load(file, "npy"), x)
    file.seek(0)
    assert np.array_equal(np.load(file), arrays[0])


def test_the_format_of_a_file_object_is_that_of_its_name(tmp_path):
    want = valid_file("safetensors", tmp_path / "x.safetensors")
    with open(tmp_path / "x.safetensors", "rb") as file:
        same_dict(mx.load(file), want)
    with pytest.raises(ValueError, match="BytesIO.*has no extension that says the format"):
        mx.load(io.BytesIO(b"abc"))
    with open(tmp_path / "x.safetensors", "rb") as file:
        with pytest.raises(TypeError, match='Files in the format "gguf" must be paths'):
            mx.load(file, "gguf")


class Broken:
    """A file object whose methods fail after some calls."""

    def __init__(self, file, calls):
        self.file, self.calls = file, calls

    def method(self, name, *args):
        self.calls -= 1
        if self.calls < 0:
            raise OSError("the disk is gone")
        return getattr(self.file, name)(*args)

    def read(self, *args):
        return self.method("read", *args)

    def write(self, *args):
        return self.method("write", *args)

    def seek(self, *args):
        return self.method("seek", *args)

    def tell(self):
        return self.method("tell")


@pytest.mark.parametrize("form", ["npy", "npz", "safetensors"])
def test_errors_of_a_file_object_come_through(form, tmp_path):
    x = values(mx.float32, (3,))
    want = x if form == "npy" else {"x": x}
    for calls in range(200):
        file = io.BytesIO()
        try:
            if form == "npy":
                mx.save(Broken(file, calls), mx.array(x))
            else:
                save_dict(form, Broken(file, calls), want)
            break
        except OSError as error:
            assert str(error) == "the disk is gone"
    assert 0 < calls < 199
    for calls in range(200):
        file.seek(0)
        try:
            (same if form == "npy" else same_dict)(mx.load(Broken(file, calls), form), want)
            break
        except OSError as error:
            assert str(error) == "the disk is gone"
    assert 0 < calls < 199


def test_text_files_are_refused(tmp_path):
    valid_file("npy", tmp_path / "x.npy")
    with open(tmp_path / "x.npy", encoding="latin-1") as file:
        with pytest.raises(TypeError, match="must be opened in binary mode"):
            mx.load(file)
    with open(tmp_path / "x.txt", "w") as file:
        with pytest.raises(TypeError, match="bytes"):
            mx.save(file, mx.zeros(3))
