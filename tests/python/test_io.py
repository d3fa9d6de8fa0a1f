"""Files of arrays: round trips, lazy loading, and damaged files."""

import io
import os
import pathlib
import struct
import threading

import mlx.core as mx
import numpy as np
import pytest
from array_files import (
    DTYPES,
    FORMATS,
    GGUF_DTYPES,
    SHAPES,
    array_of,
    gguf_bytes,
    same,
    same_dict,
    save_dict,
    valid_file,
    values,
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_round_trips(form, shape, tmp_path):
    arrays = {
        str(dtype): values(dtype, shape) for dtype in (GGUF_DTYPES if form == "gguf" else DTYPES)
    }
    path = tmp_path / f"x.{form}"
    if form == "npy":
        for x in arrays.values():
            mx.save(path, array_of(x))
            same(mx.load(path), x)
    else:
        save_dict(form, path, arrays)
        same_dict(mx.load(path), arrays)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("stream", [mx.cpu, mx.gpu, mx.new_stream(mx.gpu)], ids=str)
def test_streams(form, stream, tmp_path):
    want = valid_file(form, tmp_path / "x")
    loaded = mx.load(tmp_path / f"x.{form}", stream=stream)
    (same if form == "npy" else same_dict)(loaded, want)


def test_float64_is_for_the_cpu(tmp_path):
    mx.save(tmp_path / "x.npy", array_of(values(mx.float64, (3,))))
    with pytest.raises(ValueError, match="float64 is not supported on the GPU"):
        mx.load(tmp_path / "x.npy", stream=mx.gpu)


@pytest.mark.parametrize("form", FORMATS)
def test_arrays_with_strides(form, tmp_path):
    x = values(mx.float32, (5, 6, 7))
    a = mx.array(x)
    views = {
        "transposed": (a.T, x.T),
        "swapped": (mx.swapaxes(a, 0, 1), x.swapaxes(0, 1)),
        "stepped": (a[::2, 1:5:3, ::-1], x[::2, 1:5:3, ::-1]),
        "broadcast": (mx.broadcast_to(a[0, 0], (3, 7)), np.broadcast_to(x[0, 0], (3, 7))),
        "lazy": (a * 2 + 1, x * 2 + 1),
    }
    for name, (view, want) in views.items():
        path = tmp_path / f"{name}.{form}"
        if form == "npy":
            mx.save(path, view)
            same(mx.load(path), want)
        else:
            saves = {"npz": lambda p, d: mx.savez(p, **d), "safetensors": mx.save_safetensors}
            saves.get(form, mx.save_gguf)(path, {"x": view})
            same(mx.load(path)["x"], want)


@pytest.mark.parametrize("form", FORMATS)
def test_paths_and_extensions(form, tmp_path):
    want = valid_file(form, str(tmp_path / "plain"))
    check = same if form == "npy" else same_dict
    check(mx.load(tmp_path / f"plain.{form}"), want)
    valid_file(form, tmp_path / "other.npx")
    check(mx.load(str(tmp_path / f"other.npx.{form}")), want)
    (tmp_path / f"plain.{form}").rename(tmp_path / "renamed")
    check(mx.load(tmp_path / "renamed", format=form), want)
    check(mx.load(tmp_path / "renamed", form, False, stream=mx.cpu), want)
    with pytest.raises(ValueError, match="renamed.*has no extension that says the format"):
        mx.load(tmp_path / "renamed")
    odd = os.fsdecode(b"caf\xc3\xa9 \xff") + f".{form}"
    valid_file(form, tmp_path / odd)
    check(mx.load(tmp_path / odd), want)
    assert odd in os.listdir(tmp_path)


def test_archives_are_read_at_once(tmp_path):
    path = tmp_path / "x.npz"
    x = np.full((64, 64), 3, np.float32)
    for save in (mx.savez, mx.savez_compressed):
        save(path, x=mx.array(x))
        loaded = mx.load(path)
        mx.savez(path, x=mx.zeros(3))
        same_dict(loaded, {"x": x})
        loaded = mx.load(path)
        os.truncate(path, 10)
        same_dict(loaded, {"x": np.zeros(3, np.float32)})
    mx.savez(path, x=mx.array(x))
    path.write_bytes(path.read_bytes().replace(struct.pack("<f", 3), struct.pack("<f", 5)))
    with pytest.raises(RuntimeError, match='x.npz.*Member "x.npy" is damaged: CRC error'):
        mx.load(path)


@pytest.mark.parametrize("form", ["npy", "safetensors", "gguf"])
def test_arrays_are_read_when_they_are_evaluated(form, tmp_path):
    path = tmp_path / f"x.{form}"
    x = np.full((64, 64), 3, np.float32)
    pad = np.zeros(70000, np.float32)  # more than is read ahead
    if form == "npy":
        mx.save(path, mx.array(x))
        loaded = mx.load(path)
    else:
        save_dict(form, path, {"x": x, "a_pad": pad})
        loaded = mx.load(path)["x"]
    data = path.read_bytes()
    other = data.replace(struct.pack("<f", 3), struct.pack("<f", 5))
    with open(path, "r+b") as file:
        file.write(other)
    assert np.array_equal(np.array(loaded), x + 2)
    assert np.array_equal(np.array(loaded), x + 2)
    again = mx.load(path)
    again = again if form == "npy" else again["x"]
    os.truncate(path, len(data) // 2 if form == "npy" else 64)
    with pytest.raises(RuntimeError, match=rf"x.{form}.*The file ends after"):
        mx.eval(again)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_can_be_replaced_by_what_was_read_from_it(form, tmp_path):
    path = tmp_path / f"x.{form}"
    want = valid_file(form, path)
    loaded = mx.load(path)
    if form == "npy":
        mx.save(path, loaded + 1)
        same(mx.load(path), want + 1)
        return
    loaded["x"] = loaded["x"] + 1
    if form == "npz":
        mx.savez(path, **loaded)
    else:
        (mx.save_gguf if form == "gguf" else mx.save_safetensors)(path, loaded)
    same_dict(mx.load(path), want | {"x": want["x"] + 1})


@pytest.mark.parametrize("form", FORMATS)
def test_threads_load_at_once(form, tmp_path):
    path = tmp_path / f"x.{form}"
    want = valid_file(form, path)
    shared = mx.load(path)
    failures = []

    def work():
        try:
            for _ in range(10):
                for loaded in (mx.load(path), shared):
                    (same if form == "npy" else same_dict)(loaded, want)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_loaded_arrays_take_part_in_transformations(tmp_path):
    x = values(mx.float32, (8,))
    mx.save(tmp_path / "w.npy", mx.array(x))
    w = mx.load(tmp_path / "w.npy")
    gradient = mx.grad(lambda v: (v * v * w).sum())(w)
    np.testing.assert_allclose(np.array(gradient), 2 * x * x, rtol=1e-6)
    w = mx.load(tmp_path / "w.npy")
    doubled = mx.vmap(lambda v: v * 2)(w)
    np.testing.assert_array_equal(np.array(doubled), 2 * x)


def test_wrong_arguments(tmp_path):
    a = mx.zeros(2)
    missing = tmp_path / "no_such_file.npy"
    with pytest.raises(RuntimeError, match="no_such_file.npy.*No such file or directory"):
        mx.load(missing)
    for form in ("npz", "gguf"):
        with pytest.raises(ValueError, match="none.*No such file or directory"):
            mx.load(tmp_path / f"none.{form}")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(RuntimeError, match="folder.npy.*This is not a regular file"):
        mx.load(tmp_path / "folder.npy")
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(RuntimeError, match="pipe.npy.*This is not a regular file"):
        mx.load(tmp_path / "pipe.npy")
    with pytest.raises(RuntimeError, match=r"\[save\].*cannot be opened"):
        mx.save(tmp_path / "none" / "x.npy", a)
    with pytest.raises(RuntimeError, match="zero byte"):
        mx.load("a\0.npy")
    with pytest.raises(ValueError, match='extension of ".*x.txt" is unknown'):
        mx.load(tmp_path / "x.txt")
    with pytest.raises(ValueError, match='The format "txt" is unknown: give "npy"'):
        mx.load(missing, "txt")
    for form in ("npy", "npz"):
        with pytest.raises(ValueError, match=f'The format "{form}" has no metadata'):
            mx.load(tmp_path / f"x.{form}", return_metadata=True)
    for call in [
        lambda: mx.load(3),
        lambda: mx.load(None),
        lambda: mx.load(b"x.npy"),
        lambda: mx.save(3, a),
        lambda: mx.savez(3, a),
    ]:
        with pytest.raises(ValueError, match="file must be a str, a pathlib.Path or a file object"):
            call()
    for call in [
        lambda: mx.save(missing, [1, 2]),
        lambda: mx.save(missing),
        lambda: mx.savez(missing, 3),
        lambda: mx.savez(missing, a=np.zeros(3)),
        lambda: mx.save_safetensors(missing, [a]),
        lambda: mx.save_safetensors(missing, {"a": 3}),
        lambda: mx.save_safetensors(missing, {3: a}),
        lambda: mx.save_safetensors(missing, {"a": a}, {"b": 3}),
        lambda: mx.save_safetensors(missing, {"a": a}, {3: "b"}),
        lambda: mx.save_gguf(missing, {"a": a}, {"b": 3}),
        lambda: mx.save_gguf(missing, {"a": a}, {"b": ["x", 3]}),
        lambda: mx.save_gguf(io.BytesIO(), {"a": a}, {}),
    ]:
        with pytest.raises(TypeError):
            call()
    assert sorted(os.listdir(tmp_path)) == ["folder.npy", "pipe.npy"]


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(tmp_path):
    (tmp_path / "x.npy").symlink_to("/dev/full")
    with pytest.raises(RuntimeError, match="cannot be written: No space left on device"):
        mx.save(tmp_path / "x.npy", mx.zeros(3))
    (tmp_path / "x.npz").symlink_to("/dev/full")
    with pytest.raises(RuntimeError, match="cannot be written: No space left on device"):
        mx.savez(tmp_path / "x.npz", mx.zeros(3))


def damaged(data, rng):
    """A copy that is cut, changed, longer, or has parts of itself in the wrong place."""
    data = bytearray(data)
    kind = rng.integers(6)
    place = int(rng.integers(len(data)))
    if kind == 0:
        return bytes(data[:place])
    if kind == 1:  # more often in the header than in the elements
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(min(len(data), 300)))] = int(rng.integers(256))
    elif kind == 2:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 3:
        width = int(rng.choice([1, 2, 4, 8]))
        data[place : place + width] = b"\xff" * width
    elif kind == 4:
        data[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 20)), dtype=np.uint8))
    else:
        end = place + int(rng.integers(1, 40))
        del data[place:end]
    return bytes(data)


@pytest.mark.parametrize("form", [*FORMATS, "compressed", "quantised"])
def test_damaged_files_are_refused_or_read(form, rng, tmp_path):
    extension = {"compressed": "npz", "quantised": "gguf"}.get(form, form)
    path = tmp_path / f"x.{extension}"
    if form == "compressed":
        mx.savez_compressed(path, a=mx.arange(100), b=mx.zeros((30, 30)))
    elif form == "quantised":
        path.write_bytes(gguf_bytes([("w", (2, 64), 2, bytes(72)), ("v", (32,), 8, bytes(34))]))
    elif form == "gguf":
        arrays = {"x": mx.ones((3, 4)), "n": mx.array([1, 2])}
        mx.save_gguf(path, arrays, {"a": "text", "b": mx.arange(4), "c": ["x", "yz"]})
    else:
        valid_file(form, path)
    valid = path.read_bytes()
    peak = mx.get_peak_memory()
    refused = 0
    for _ in range(400):
        data = damaged(valid, rng)
        path.write_bytes(data)
        try:
            loaded = mx.load(path)
            mx.eval(loaded)
        except (RuntimeError, ValueError) as error:
            assert f"x.{extension}" in str(error), error
            refused += 1
        if extension != "gguf":
            try:
                mx.eval(mx.load(io.BytesIO(data), extension))
            except (RuntimeError, ValueError) as error:
                assert "BytesIO" in str(error), error
    assert 50 < refused
    assert mx.get_peak_memory() - peak < 1 << 24
