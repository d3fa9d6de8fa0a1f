"""Functions in files: export_function, exporter, import_function, and drawings of graphs."""

import io
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest
from array_files import DTYPES, array_of, values
from exported_functions import (
    CASES,
    NOT_IN_FILES,
    ON_GPUS,
    SHAPELESS,
    X,
    Y,
    check_same,
    floats,
    primitive_classes,
    with_own_rules,
)

HEADER = 40  # bytes


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "function.mlxfn")


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name, path):
    fun, *inputs = CASES[name]
    mx.export_function(path, fun, *inputs)
    imported = mx.import_function(path)
    result = imported(*inputs)
    assert isinstance(result, tuple)
    check_same(result, fun(*inputs))
    # The imported function is exported again, with the same results.
    mx.export_function(path, imported, *inputs)
    check_same(mx.import_function(path)(*inputs), fun(*inputs))


def test_the_cases_use_every_primitive(path):
    classes = primitive_classes()
    assert len(classes) > 100 and NOT_IN_FILES < classes
    missing = classes - NOT_IN_FILES - ON_GPUS
    for fun, *inputs in CASES.values():
        mx.export_function(path, fun, *inputs)
        missing -= names_in(path, missing)
    for fun, *inputs in SHAPELESS.values():
        mx.export_function(path, fun, inputs[0], shapeless=True)
        missing -= names_in(path, missing)
    assert missing == set()


def names_in(path, classes):
    data = Path(path).read_bytes()
    return {name for name in classes if struct.pack("<Q", len(name)) + name.encode() in data}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_types(dtype, path):
    x = array_of(values(dtype, (2, 3)))
    constant = array_of(values(dtype, (2, 3), seed=1))
    with mx.stream(mx.cpu):
        mx.export_function(path, lambda x: [x.T, mx.concatenate([x, constant])], x)
        transposed, both = mx.import_function(path)(x)
        assert transposed.dtype == both.dtype == dtype
        assert mx.array_equal(both[2:], constant).item() and mx.array_equal(transposed, x.T).item()


@pytest.mark.parametrize("name", SHAPELESS)
def test_other_shapes(name, path):
    fun, x, other = SHAPELESS[name]
    mx.export_function(path, fun, x, shapeless=True)
    imported = mx.import_function(path)
    for inputs in (x, other):
        check_same(imported(inputs), fun(inputs))
    with pytest.raises(ValueError, match=r"float32 with 2 dimensions"):
        imported(x[0])


REFUSED = {
    "slice": (lambda x: x[:, 2:5], X, Y[:, :3]),
    "rows": (lambda x: x[:, :2], X, Y[:3]),
    "last rows": (lambda x: x[-2:], X, floats(9, 6)),
    "backwards": (lambda x: x[:, ::-1], X, Y[:, :3]),
    "shorter rows": (lambda x: x @ floats(6, 3), X, Y[:, :2]),
    "unflatten": (lambda x: mx.unflatten(x, 1, (2, 3)), X, Y[:, :2]),
    "squeeze": (lambda x: x.squeeze(0), X[:1], Y),
    "split": (lambda x: mx.split(x, [2, 4], axis=1), X, Y[:, :1]),
    "concatenate": (lambda x: mx.concatenate([x, Y], axis=1), X, Y[:2]),
    "take_along_axis": (lambda x: mx.take_along_axis(x, mx.array([[0]] * 4), axis=1), X, Y[:2]),
    "slice_update": (lambda x: mx.slice_update(x, X[:2], mx.array([1]), (0,)), X, Y[:1]),
    "scatter": (lambda x: x.at[mx.array([1, 2])].add(X[:2]), X, Y[:, :2]),
    "addmm": (lambda x: mx.addmm(X[:, :3], x, floats(6, 3)), X, Y[:, :2]),
    "channels": (lambda x: mx.conv1d(x, floats(5, 3, 6)), X[None], floats(1, 4, 2)),
    "quantized": (
        lambda x: mx.quantized_matmul(x, *mx.quantize(floats(8, 64))),
        floats(2, 64),
        floats(2, 128),
    ),
    "irfft": (lambda x: mx.fft.irfft(mx.fft.rfft(x)), X, Y[:, :3]),
    "topk": (lambda x: mx.topk(x, 5), X, Y[:, :3]),
    "cholesky": (lambda x: mx.linalg.cholesky(x, stream=mx.cpu), mx.eye(3), Y),
    "view": (lambda x: x.view(mx.complex64), X, Y[:, :3]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_that_operations_cannot_take(name, path):
    fun, x, other = REFUSED[name]
    mx.export_function(path, fun, x, shapeless=True)
    check_same(mx.import_function(path)(x), fun(x))
    for function in (mx.import_function(path), mx.compile(fun, shapeless=True)):
        function(x)
        with pytest.raises(ValueError, match="recorded for other shapes"):
            mx.eval(function(other))


def test_keywords(path):
    def fun(x, *, y, scale=None):
        return x - y if scale is None else (x - y) * scale

    mx.export_function(path, fun, X, y=Y)
    imported = mx.import_function(path)
    check_same(imported(X, y=Y), X - Y)
    check_same(imported([X], {"y": Y}), X - Y)
    check_same(imported((X,), y=Y), X - Y)
    for args, kwargs in (((X, Y), {}), ((X,), {"z": Y}), ((X,), {"y": Y, "scale": Y}), ((), {})):
        with pytest.raises(ValueError, match=r"\(float32 \(4,6\), y: float32 \(4,6\)\)"):
            imported(*args, **kwargs)
    mx.export_function(path, fun, (X,), {"y": Y, "scale": mx.array(2.0)})
    check_same(mx.import_function(path)(X, scale=mx.array(3.0), y=Y), (X - Y) * 3)
    mx.export_function(path, lambda **kwargs: kwargs["ä b"], {"ä b": X})
    check_same(mx.import_function(path)({"ä b": Y}), Y)


def test_positional_inputs_may_come_with_keywords(path):
    mx.export_function(path, lambda x, y: x - y, X, Y)
    imported = mx.import_function(path)
    for args, kwargs in (
        ((X,), {"y": Y}),
        (([X], {"y": Y}), {}),
        ((), {"x": X, "y": Y}),
        ((), {"y": Y, "x": X}),
        (({"x": X, "y": Y},), {}),
        ((), {"q": X, "z": Y}),
    ):
        check_same(imported(*args, **kwargs), X - Y)
    check_same(imported(x=Y, y=X), Y - X)
    for args, kwargs in (((X, Y), {"y": Y}), ((), {"y": Y}), ((X,), {"y": Y[0]})):
        with pytest.raises(ValueError, match="No function of"):
            imported(*args, **kwargs)

    mx.export_function(path, lambda x, y: x - y, X, y=Y)
    imported = mx.import_function(path)
    check_same(imported(x=X, y=Y), X - Y)
    check_same(imported(z=X, y=Y), X - Y)
    for args, kwargs in (((X, Y), {}), ((X,), {"x": Y}), ((), {"p": X, "q": Y})):
        with pytest.raises(ValueError, match="No function of"):
            imported(*args, **kwargs)

    mx.export_function(path, lambda a, b, x, y: a - 2 * b + 3 * x - 4 * y, X, Y, x=Y, y=X)
    imported = mx.import_function(path)
    check_same(imported(X, b=Y, x=X, y=Y), X - 2 * Y + 3 * X - 4 * Y)
    check_same(imported(c=X, d=Y, x=X, y=Y), X - 2 * Y + 3 * X - 4 * Y)


def test_several_lists_of_inputs(path):
    weights = floats(300, 300)

    def fun(*args, y=None):
        total = sum(args) @ weights
        return total if y is None else (total, y)

    with mx.exporter(path, fun) as exporter:
        assert isinstance(exporter, mx.FunctionExporter)
        exporter(mx.ones((2, 300)))
        exporter(mx.ones((300,)))
        exporter(mx.ones((300,)), mx.ones((300,)))
        exporter(mx.ones((300,)), y=X)
    size = os.path.getsize(path)
    assert weights.nbytes < size < 1.1 * weights.nbytes  # one time
    imported = mx.import_function(path)
    a, b = floats(300), floats(2, 300)
    check_same(imported(a), a @ weights)
    check_same(imported(b), b @ weights)
    check_same(imported(a, a), (a + a) @ weights)
    check_same(imported(a, y=Y), (a @ weights, Y))
    with pytest.raises(ValueError) as error:
        imported(a.astype(mx.float16))
    assert str(error.value).count("\n") == 4
    with pytest.raises(RuntimeError, match="written"):
        exporter(a)
    exporter.close()


@pytest.mark.parametrize("shapeless", [False, True])
def test_an_exporter_takes_each_signature_once(path, shapeless):
    with mx.exporter(path, lambda x: x + 1, shapeless=shapeless) as exporter:
        exporter(X)
        with pytest.raises(RuntimeError, match=r"\(float32 .*\) is there already"):
            exporter(Y)
        exporter(X.astype(mx.int32))
        if shapeless:
            with pytest.raises(RuntimeError, match="is there already"):
                exporter(X[:2])
        else:
            exporter(X[:2])
    check_same(mx.import_function(path)(Y), Y + 1)


def test_an_exporter_takes_no_inputs_that_a_function_takes_already(path):
    def fun(x, y=None, z=None):
        return x - (z if y is None else y)

    for first in (((X, Y), {}), ((X,), {"y": Y})):
        with mx.exporter(path, fun) as exporter:
            exporter(*first[0], **first[1])
            for args, kwargs in (((X,), {"y": Y}), ((), {"x": X, "y": Y})):
                with pytest.raises(RuntimeError, match="is there already"):
                    exporter(*args, **kwargs)
    with mx.exporter(path, fun) as exporter:  # one that takes fewer may come first
        exporter(X, y=Y)
        exporter(X, z=Y)
        exporter(X, Y)
    imported = mx.import_function(path)
    for args, kwargs in (((X,), {"y": Y}), ((X,), {"z": Y}), ((X, Y), {})):
        check_same(imported(*args, **kwargs), X - Y)


def test_an_exporter_that_fails_writes_nothing(path):
    with pytest.raises(KeyError), mx.exporter(path, lambda x: x) as exporter:
        exporter(X)
        raise KeyError
    assert not os.path.exists(path)

    def fun(x):
        if x.ndim == 1:
            raise KeyError("inside")
        return x * Y

    with mx.exporter(path, fun) as exporter:
        with pytest.raises(KeyError, match="inside"):
            exporter(X[0])
        exporter(X)
    check_same(mx.import_function(path)(X), X * Y)


def test_constants_are_what_they_were(path, tmp_path):
    pending = floats(3, 4) * 2  # not evaluated
    transposed = floats(4, 3).T
    file = str(tmp_path / "weights.npy")
    mx.save(file, floats(3, 4))
    loaded = mx.load(file)
    repeated = mx.broadcast_to(floats(1, 4), (3, 4))
    empty = mx.zeros((0, 4))

    def fun(x):
        return x + pending, x + transposed, x + loaded, x * repeated, empty

    x = mx.ones((3, 4))
    mx.export_function(path, fun, x)
    want = fun(x)
    mx.eval(want)
    os.remove(file)
    check_same(mx.import_function(path)(x), want)


def test_state_of_random_numbers(path):
    mx.random.seed(5)
    mx.export_function(path, lambda: mx.random.uniform(shape=(4,)))
    imported = mx.import_function(path)
    check_same(imported(), imported())  # the key is a constant
    mx.random.seed(5)
    check_same(imported(), mx.random.uniform(shape=(4,)))


def test_transformations(path):
    def fun(x, y):
        return mx.sin(x) @ y

    w = floats(6, 3)
    mx.export_function(path, fun, X, w)
    imported = mx.import_function(path)
    for argnum in (0, 1):
        got = mx.grad(lambda *args: imported(*args)[0].sum(), argnums=argnum)(X, w)
        check_same(got, mx.grad(lambda *args: fun(*args).sum(), argnums=argnum)(X, w))
    check_same(
        mx.jvp(lambda x: list(imported(x, w)), [X], [Y])[1],
        mx.jvp(lambda x: fun(x, w), [X], [Y])[1],
    )
    many = floats(5, 4, 6)
    got = mx.vmap(lambda x: imported(x, w)[0])(many)
    assert mx.allclose(got, fun(many, w)).item()
    compiled = mx.compile(lambda x: mx.exp(imported(x, w)[0]) * 2)
    assert mx.allclose(compiled(X), mx.exp(fun(X, w)) * 2).item()
    mx.export_function(path, lambda x: mx.value_and_grad(lambda x: imported(x, w)[0].sum())(x), X)
    check_same(mx.import_function(path)(X), mx.value_and_grad(lambda x: fun(x, w).sum())(X))


def test_a_function_with_rules_of_its_own_is_its_operations(path):
    mx.export_function(path, with_own_rules, X)
    imported = mx.import_function(path)
    got = mx.grad(lambda x: imported(x)[0].sum())(X)
    assert mx.allclose(got, mx.sin(X) + X * mx.cos(X)).item()
    checkpointed = mx.checkpoint(lambda x: mx.sin(x) * x)
    mx.export_function(path, mx.grad(lambda x: checkpointed(x).sum()), X)
    assert mx.allclose(mx.import_function(path)(X)[0], got).item()


def test_export_within_transformations(path):
    def fun(x):
        mx.export_function(path, lambda y: mx.exp(y) + x, Y)
        return (x * 2).sum()

    mx.grad(fun)(X)
    check_same(mx.import_function(path)(Y), mx.exp(Y) + X)
    with pytest.raises(ValueError, match="not known: pass it as an input"):
        mx.compile(fun)(X)


def test_streams(path):
    def fun(x):
        return mx.add(mx.multiply(x, 2, stream=mx.gpu), 1, stream=mx.cpu)

    mx.export_function(path, fun, X)
    with mx.stream(mx.cpu):
        check_same(mx.import_function(path)(X), X * 2 + 1)
    wide = array_of(values(mx.float64, (3,)))
    with mx.stream(mx.cpu):
        mx.export_function(path, lambda x: x * 2, wide)
        want = wide * 2
    check_same(mx.import_function(path)(wide), want)  # on the device that it was recorded for


def test_another_process(path):
    w = floats(6, 6)
    kernel, argument = CASES["kernel"]
    with mx.exporter(path, lambda x, *, y: [mx.softmax(x @ w) + y, *kernel(x[0])]) as exporter:
        exporter(X, y=mx.array(2.0))
    want = path + ".npz"
    mx.savez(want, *[mx.softmax(X @ w) + 2, *kernel(X[0])], x=X)
    work = f"""
import mlx.core as mx
want = mx.load({want!r})
got = mx.import_function({path!r})(want["x"], y=mx.array(2.0))
assert all(mx.array_equal(got[i], want[f"arr_{{i}}"]).item() for i in range(2))
"""
    subprocess.run([sys.executable, "-c", work], check=True)


def test_files_of_the_first_version_can_be_read(path):
    """If this fails, kVersion in file.cpp must rise: old files would give wrong functions."""
    golden = Path(__file__).parent / "golden" / "version_1.mlxfn"
    imported, metadata = mx.import_function(golden, return_metadata=True)
    assert metadata == "softmax(x @ w) + y"
    w = mx.arange(6.0).reshape(3, 2) / 8
    x, y = mx.ones((2, 3)), mx.array([1.0, 2.0])
    check_same(imported(x, y=y), mx.softmax(x @ w, axis=-1) + y)

    fun = lambda x, y: mx.softmax(x @ w, axis=-1) + y  # noqa: E731
    mx.eval(w)
    mx.export_function(path, fun, x, y=y, metadata=metadata)
    assert Path(path).read_bytes() == golden.read_bytes()


def test_metadata(path):
    mx.export_function(path, lambda x: x, X, metadata="größe = 3")
    assert mx.import_function(path, return_metadata=True)[1] == "größe = 3"
    mx.export_function(Path(path), lambda x: x, X)
    imported, metadata = mx.import_function(Path(path), return_metadata=True)
    assert metadata == "" and callable(imported)


def test_callback():
    events = []
    mx.export_function(events.append, lambda x, y=None: mx.exp(x + y)[1:] * Y[1:], X, y=Y[:1])
    kinds = [event["type"] for event in events]
    first = ["inputs", "keyword_inputs", "outputs", "constants"]
    assert kinds[:4] == first and set(kinds[4:]) == {"primitive"}
    inputs, keywords, outputs, constants, *primitives = events
    assert inputs["inputs"] == [("A", (4, 6), mx.float32), ("B", (1, 6), mx.float32)]
    assert keywords["keywords"] == [("y", "B")]
    assert [value[1:] for value in outputs["outputs"]] == [((3, 6), mx.float32)]
    assert mx.array_equal(constants["constants"][0][1], Y).item()
    by_name = {event["name"]: event for event in primitives}
    assert set(by_name) == {"Broadcast", "Add", "Exp", "Slice", "Multiply"}
    assert by_name["Broadcast"]["arguments"] == [[4, 6]]
    known = {value[0] for value in inputs["inputs"]}
    known |= {name for name, _ in constants["constants"]}
    for event in primitives:  # in the order of evaluation
        assert {value[0] for value in event["inputs"]} <= known
        known |= {value[0] for value in event["outputs"]}
    assert outputs["outputs"][0][0] in known

    with pytest.raises(KeyError):
        mx.export_function(lambda event: event["nothing"], lambda x: x, X)
    for fun, *arguments in CASES.values():  # callbacks get all parameters
        mx.export_function(lambda event: None, fun, *arguments)


# ---- errors ----


@pytest.mark.parametrize("result", [3, None, "x", {"a": X}, [X, 3], [[X]], [None]], ids=str)
def test_functions_return_arrays(result, path):
    with pytest.raises(ValueError, match="array or a list or tuple of arrays"):
        mx.export_function(path, lambda x: result, X)
    assert not os.path.exists(path)


@pytest.mark.parametrize(
    "args",
    [(3,), (X, 3), ([3],), ([X], [X]), ({"x": 1},), ({3: X},), ({"x": X}, [X]), (None,)],
    ids=str,
)
def test_inputs_are_arrays(args, path):
    with pytest.raises(ValueError, match="inputs must be arrays"):
        mx.export_function(path, lambda *args, **kwargs: X, *args)
    mx.export_function(path, lambda x: x, X)
    with pytest.raises(ValueError, match="inputs must be arrays"):
        mx.import_function(path)(*args)
    with pytest.raises(ValueError, match="twice"):
        mx.import_function(path)([X], {"x": X}, x=X)


def test_other_errors(path, tmp_path):
    with pytest.raises(TypeError, match="Expected a function"):
        mx.export_function(path, 3, X)
    with pytest.raises(TypeError, match="must be a str or a pathlib.Path"):
        mx.export_function(3, lambda x: x, X)
    with pytest.raises(TypeError):
        mx.exporter(path, 3)
    with pytest.raises(RuntimeError, match="cannot be opened"):
        mx.export_function(str(tmp_path / "no" / "folder"), lambda x: x, X)
    with pytest.raises(RuntimeError, match="cannot be opened"):
        mx.import_function(path)
    with pytest.raises(RuntimeError, match="regular file"):
        mx.import_function(str(tmp_path))
    with pytest.raises((RuntimeError, ValueError), match="eval"):
        mx.export_function(path, lambda x: x * mx.exp(x).sum().item(), X)
    with mx.exporter(path, lambda x: x):
        pass
    with pytest.raises(ValueError, match="It has functions of: nothing"):
        mx.import_function(path)(X)


def test_primitives_of_extensions_are_named(path):
    extension = pytest.importorskip("mlx_sample_extensions")
    with pytest.raises(ValueError, match="operation .*Axpby.* cannot be exported"):
        mx.export_function(path, lambda x, y: extension.axpby(x, y, 2.0, 3.0), X, Y)


# ---- damaged files ----


def example(path) -> bytes:
    w = floats(6, 3)
    with mx.exporter(
        path, lambda x, **kwargs: [mx.softmax(x[1:] @ w), *CASES["kernel"][0](x[0])]
    ) as f:
        f(X)
        f(X[:3], y=Y)
    return Path(path).read_bytes()


def refused(path, data: bytes) -> str:
    Path(path).write_bytes(data)
    with pytest.raises(RuntimeError) as error:
        mx.import_function(path)
    assert "function.mlxfn" in str(error.value)
    return str(error.value)


def test_files_that_are_cut_off(path):
    data = example(path)
    for length in [*range(0, len(data), 37), len(data) - 1]:
        refused(path, data[:length])
    assert "cut off" in refused(path, data[:-1]) and "cut off" in refused(path, data + b"\0")
    refused(path, data + data)


def test_files_with_other_bytes(path):
    data = example(path)
    rng = random.Random(0)
    for _ in range(600):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            place = rng.choice([rng.randrange(len(data)), rng.randrange(HEADER)])
            damaged[place] ^= rng.randrange(1, 256)
        if damaged != data:
            refused(path, bytes(damaged))


def checksum(data: bytes) -> int:
    """As file.cpp has it."""
    mask = 2**64 - 1
    body = data[16:32] + data[HEADER:] + b"\0" * (-len(data) % 8)
    if len(data) % 8 == 0:
        body += b"\0" * 8
    total = 0
    for (word,) in struct.iter_unpack("<Q", body):
        total = ((total ^ word) * 0x9E3779B97F4A7C15) & mask
        total = (((total << 29) | (total >> 35)) + 0x632BE59BD9B4E019) & mask
    return total


def resealed(data: bytes) -> bytes:
    """The file with its checksum corrected."""
    return data[:32] + struct.pack("<Q", checksum(data)) + data[HEADER:]


def test_files_whose_checksum_is_right(path):
    """All values in a file are checked while it is read."""
    data = example(path)
    assert resealed(data) == data
    (description,) = struct.unpack_from("<Q", data, 24)
    rng = random.Random(1)
    for _ in range(400):
        damaged = bytearray(data)
        place = HEADER + rng.randrange(description)
        if rng.random() < 0.5:
            damaged[place] ^= rng.randrange(1, 256)
        else:  # lengths are 8-byte integers
            end = min(place + 8, HEADER + description)
            damaged[place:end] = rng.randbytes(end - place)
        Path(path).write_bytes(resealed(bytes(damaged)))
        try:
            mx.import_function(path)
        except (RuntimeError, ValueError) as error:
            assert "function.mlxfn" in str(error)


def test_headers(path):
    data = example(path)
    newer = data[:8] + struct.pack("<I", 2) + data[12:]
    assert "version 2 of the format, but only version 1" in refused(path, newer)
    assert "not a file of exported functions" in refused(path, b"\x93NUMPY" + data[6:])
    assert "not a file of exported functions" in refused(path, b"")
    unknown = data.replace(b"Softmax", b"Hardmax")
    assert 'operation "Hardmax" is unknown' in refused(path, resealed(unknown))


# ---- drawings ----


def test_export_to_dot(tmp_path):
    x, y = mx.array([1.0, 2.0]), mx.array(3.0)
    z = mx.exp(x + 1) * y
    quotient, rest = mx.divmod(z, y)
    file = io.StringIO()
    mx.export_to_dot(file, quotient, [rest], x=x, y=y, quotient=quotient)
    text = file.getvalue()
    assert text.startswith("digraph {") and text.rstrip().endswith("}")
    assert text.count("shape=rectangle") == 4 + text.count("Broadcast")
    for label in ("x", "y", "quotient", "Exp", "Add", "Multiply", "DivMod"):
        assert text.count(f'[label="{label}"') == 1
    mx.export_to_dot(str(tmp_path / "graph.dot"), quotient, rest, x=x, y=y, quotient=quotient)
    assert (tmp_path / "graph.dot").read_text() == text
    file = io.StringIO()
    mx.export_to_dot(file, x, **{'a"\\': x})
    assert 'label="a\\"\\\\"' in file.getvalue()
    with pytest.raises(ValueError, match="must name an array"):
        mx.export_to_dot(io.StringIO(), z, x=3)
    with pytest.raises(ValueError, match="only arrays"):
        mx.export_to_dot(io.StringIO(), 3)
    with pytest.raises(TypeError):
        mx.export_to_dot(3, z)
