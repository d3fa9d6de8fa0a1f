"""Extension projects, built against the installed package and used."""

import re
import shutil
from pathlib import Path

import pytest
from environment import Environment

ROOT = Path(__file__).resolve().parents[3]
PROJECTS = Path(__file__).resolve().parent / "projects"


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("fresh") / "env")


def install(environment: Environment, project: Path, work: Path) -> None:
    """`pip install .` from a copy, which is deleted before the package is used."""
    copy = work / project.name
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("*.so", "*.metallib", "build"))
    options = ("--quiet", "--no-build-isolation", "--no-deps")
    environment.run(environment.python, "-m", "pip", "install", *options, ".", cwd=copy)
    shutil.rmtree(copy)


SWIGLU = """
import pathlib
import mlx.core as mx
import mlx_swiglu
from mlx_swiglu import swiglu

files = {path.suffix for path in pathlib.Path(mlx_swiglu.__file__).parent.iterdir()}
assert {".so", ".metallib"} <= files, files
a, b = mx.random.normal((40, 30)), mx.random.normal((30,))
expected = a * mx.sigmoid(a) * b
for stream in (mx.cpu, mx.gpu):
    assert mx.allclose(swiglu(a, b, stream=stream), expected, atol=1e-5)
    assert mx.allclose(swiglu(a.T, a.T, stream=stream), (a * mx.sigmoid(a) * a).T, atol=1e-5)
    half = swiglu(a.astype(mx.float16), b.astype(mx.float16), stream=stream)
    assert half.dtype == mx.float16 and mx.allclose(half, expected.astype(mx.float16), 1e-2, 1e-2)
def plain(a, b): return (a * mx.sigmoid(a) * b).sum()
def fused(a, b): return swiglu(a, b).sum()
for got, wanted in zip(mx.grad(fused, (0, 1))(a, b), mx.grad(plain, (0, 1))(a, b)):
    assert mx.allclose(got, wanted, rtol=1e-4, atol=1e-4)
print("as expected")
"""

CLAMPED = """
import mlx.core as mx
from mlx_clamped import clamped_sum

a, b = mx.random.normal((50, 20)), mx.random.normal((50, 20))
for stream in (mx.cpu, mx.gpu):
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        for x, y in ((a, b), (a.T, b.T), (a, b[:1]), (a[::2], b[1::2])):
            x, y = x.astype(dtype), y.astype(dtype)
            z = clamped_sum(x, y, -0.5, high=1.0, stream=stream)
            expected = mx.clip(x + y, -0.5, 1.0)
            assert z.dtype == dtype and mx.allclose(z, expected, rtol=1e-2, atol=1e-2)
# A chain on one stream: inputs that are still to be computed.
z = clamped_sum(mx.exp(a) - 1, mx.tanh(b), -0.5, 1.0, stream=mx.cpu)
assert mx.allclose(z, mx.clip(mx.exp(a) - 1 + mx.tanh(b), -0.5, 1.0), atol=1e-5)
y = mx.exp(a, stream=mx.gpu)
assert mx.allclose(clamped_sum(y, b, 0.0, 9.0, stream=mx.cpu), mx.clip(y + b, 0.0, 9.0))
z = clamped_sum(z, mx.sin(b, stream=mx.gpu), -0.5, 1.0, stream=mx.gpu) * 2
gradient = mx.grad(lambda v: clamped_sum(v, b, -0.5, 1.0).sum())(a)
inside = ((a + b >= -0.5) & (a + b <= 1.0)).astype(mx.float32)
assert mx.array_equal(gradient, inside)
_, (moved,) = mx.jvp(lambda u, v: clamped_sum(u, v, -0.5, 1.0), [a, b], [a, b])
assert mx.allclose(moved, inside * (a + b))
try:
    mx.vmap(lambda u: clamped_sum(u, u, 0.0, 1.0))(a)
    raise SystemExit("vmap was expected to fail")
except RuntimeError as error:
    assert "no vmap" in str(error)
try:
    mx.eval(clamped_sum(a.astype(mx.complex64), b, 0.0, 1.0, stream=mx.cpu))
    raise SystemExit("complex numbers were expected to fail")
except RuntimeError as error:
    assert "floating point" in str(error)
# Half the world calls its library mlx_ext: the sample package does, and so does this one.
from mlx_sample_extensions import axpby
one = mx.ones((4,))
for _ in range(3):
    assert clamped_sum(one, one, 0.0, 1.5, stream=mx.gpu).tolist() == [1.5] * 4
    assert axpby(one, one, 2.0, 3.0, stream=mx.gpu).tolist() == [5.0] * 4
print("as expected")
"""

SOFTCAP = """
import mlx.core as mx
from mlx_softcap import _ext, capped_rows, softcap

x = 10 * mx.random.normal((37, 300))
for stream in (mx.cpu, mx.gpu):
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        for view in (x, x.T, x[::2, ::3], mx.broadcast_to(x[:1], x.shape)):
            view = view.astype(mx.float32)
            expected = 5.0 * mx.tanh(view / 5.0)
            got = softcap(view.astype(dtype), 5.0, stream=stream)
            assert got.dtype == dtype
            assert mx.allclose(got.astype(mx.float32), expected, rtol=2e-2, atol=2e-2)
    for view in (x, x.T, x[:, 5]):
        out, largest = capped_rows(view, 5.0, stream=stream)
        assert mx.allclose(out, 5.0 * mx.tanh(view / 5.0), atol=1e-4)
        assert mx.array_equal(largest, mx.abs(view).max(axis=-1))
    mapped = mx.vmap(lambda v: softcap(v, 5.0, stream=stream), in_axes=1, out_axes=1)(x)
    assert mx.allclose(mapped, 5.0 * mx.tanh(x / 5.0), atol=1e-4)
try:
    capped_rows(mx.array(1.0), 5.0)
    raise SystemExit("an error was expected")
except ValueError as error:
    assert "[capped_rows]" in str(error)
assert _ext.dtype_of(x.astype(mx.bfloat16)) == mx.bfloat16
assert _ext.as_stream(mx.cpu) == mx.default_stream(mx.cpu)
assert _ext.as_stream(None) == mx.default_stream(mx.default_device())
for given in (None, mx.default_stream(mx.cpu), mx.Device(mx.gpu)):
    assert _ext.same(given) == given
try:
    softcap([1.0], 5.0)
    raise SystemExit("a TypeError was expected")
except TypeError as error:
    assert "array" in str(error)
print("as expected")
"""


NANOBIND = """
import mlx.core as mx
from mlx_softcap import _ext

x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
objects = [x, mx.gpu, mx.Device(mx.cpu), mx.int8, [x, y], [x, 1], None, 1.5, mx.default_stream(mx.cpu)]
kinds = ["array", "type of device", "device", "dtype", "list", "object", "object", "object", "object"]
assert [_ext.kind(given) for given in objects] == kinds
assert _ext.plus(x, y).tolist() == [4, 6] and _ext.plus(x).tolist() == [1, 2]
assert _ext.plus(x, y=None).tolist() == [1, 2]
first, second = _ext.swapped((x, y))
assert type(first) is mx.array and (first.tolist(), second.tolist()) == ([3, 4], [1, 2])
assert _ext.zeros(3, mx.bfloat16).dtype == mx.bfloat16
assert _ext.device_index(mx.gpu) == 0 and _ext.device_index(mx.Device(mx.cpu)) == 0
assert _ext.nothing() is None
assert _ext.size_of(x) == 2 and _ext.size_of(None) == -1
assert _ext.size_of_some(x) == 2
try:
    _ext.size_of_some(None)
    raise SystemExit("an error was expected")
except TypeError:
    pass
assert [half.tolist() for half in _ext.halves([x, y])] == [[0.5, 1.0], [1.5, 2.0]]
try:
    _ext.halves([x, None])
    raise SystemExit("an error was expected")
except ValueError as error:
    assert "[halves]" in str(error)
# Arrays are part of graphs and are freed as others are.
assert mx.grad(lambda v: _ext.plus(v * v, y).sum())(x).tolist() == [2, 4]
assert "mlx.core.array" in _ext.plus.__doc__
before = mx.get_active_memory()
for _ in range(100):
    kept = _ext.plus(mx.ones(1000), mx.ones(1000))
    mx.eval(kept)
assert mx.get_active_memory() <= before + 8000
print("also as expected")
"""


def with_nanobind(work: Path) -> Path:
    """The project in the present style, with nanobind's bindings."""
    project = work / "with_nanobind" / "softcap"
    shutil.copytree(PROJECTS / "softcap", project)
    shutil.copy(PROJECTS / "with_nanobind" / "bindings.cpp", project)
    listing = project / "CMakeLists.txt"
    text = listing.read_text().replace("pybind11 --cmakedir", "nanobind --cmake_dir")
    text = text.replace("_add_module(_ext", "_add_module(_ext NB_STATIC STABLE_ABI NB_DOMAIN mlx")
    listing.write_text(text.replace("pybind11", "nanobind"))
    return project


@pytest.mark.timeout(900)
def test_bindings_made_with_nanobind(environment, tmp_path):
    install(environment, with_nanobind(tmp_path), tmp_path)
    text = environment.run(environment.python, "-c", SOFTCAP + NANOBIND, cwd=tmp_path)
    assert "also as expected" in text


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "project, program",
    [
        (ROOT / "examples" / "extension", SWIGLU),
        (PROJECTS / "clamped", CLAMPED),
        (PROJECTS / "softcap", SOFTCAP),
    ],
    ids=["example", "older style", "present style"],
)
def test_pip_install(environment, project, program, tmp_path):
    install(environment, project, tmp_path)
    assert "as expected" in environment.run(environment.python, "-c", program, cwd=tmp_path)


@pytest.mark.timeout(900)
def test_in_place(environment, tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "extension", copy)
    build = (environment.python, "setup.py", "build_ext", "-j2", "--inplace")
    environment.run(*build, cwd=copy)
    names = {path.name for path in (copy / "mlx_swiglu").iterdir()}
    assert {"libmlx_swiglu.so", "mlx_swiglu.metallib"} <= names
    assert any(name.startswith("_ext.") for name in names)
    assert "as expected" in environment.run(environment.python, "-c", SWIGLU, cwd=copy)

    # A header that a kernel includes is a dependency of the library, too.
    library = copy / "mlx_swiglu" / "mlx_swiglu.metallib"
    before = library.stat().st_mtime_ns
    environment.run(*build, cwd=copy)
    assert library.stat().st_mtime_ns == before
    (copy / "swiglu" / "swiglu.metal").touch()
    environment.run(*build, cwd=copy)
    assert library.stat().st_mtime_ns > before


@pytest.mark.timeout(900)
def test_an_error_in_a_kernel_fails_the_build_and_names_the_place(environment, tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "extension", copy)
    kernel = copy / "swiglu" / "swiglu.metal"
    kernel.write_text(kernel.read_text().replace("float g =", "float g = +;", 1))
    text = environment.run(
        environment.python, "setup.py", "build_ext", "--inplace", cwd=copy, check=False
    )
    assert "swiglu.metal:11:" in text and "error: expected expression" in text


def configure_and_build(environment, project: Path) -> Path:
    """Builds a project with CMake alone; returns the folder of its module."""
    cmake_dir = environment.run(environment.python, "-m", "mlx", "--cmake-dir", cwd=project).strip()
    arguments = (f"-DMLX_ROOT={cmake_dir}", f"-DPython_EXECUTABLE={environment.python}")
    environment.run("cmake", "-S", ".", "-B", "build", *arguments, cwd=project)
    environment.run("cmake", "--build", "build", cwd=project)
    return project / "build"


@pytest.mark.timeout(900)
def test_a_nanobind_module_of_another_version_is_refused(environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.24)
project(other LANGUAGES CXX)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
find_package(MLX CONFIG REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(other NB_STATIC other.cpp)
target_link_libraries(other PRIVATE mlx)
target_compile_options(other BEFORE PRIVATE "SHELL:-include ${CMAKE_SOURCE_DIR}/other_version.h")
""")
    (tmp_path / "other_version.h").write_text("""
#include "mlx/version.h"
#undef MLX_ANYWHERE_VERSION
#define MLX_ANYWHERE_VERSION "0.99.0"
""")
    (tmp_path / "other.cpp").write_text("""
NB_MODULE(other, m) {
  m.def("same", [](const mlx::core::array& a) { return a; });
  m.def("dtype", []() { return mlx::core::float32; });
}
""")
    folder = configure_and_build(environment, tmp_path)
    for call in ("same(mx.ones(2))", "dtype()"):
        code = f"import mlx.core as mx, other; other.{call}"
        text = environment.run(environment.python, "-c", code, cwd=folder, check=False)
        assert "ImportError: This module was built against mlx-anywhere 0.99.0" in text


@pytest.mark.timeout(900)
def test_a_module_of_another_version_is_refused(environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.24)
project(other LANGUAGES CXX)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
find_package(MLX CONFIG REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
  OUTPUT_VARIABLE pybind11_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(pybind11 CONFIG REQUIRED)
pybind11_add_module(other other.cpp)
target_link_libraries(other PRIVATE mlx)
""")
    (tmp_path / "other.cpp").write_text("""
#include "mlx/version.h"
#undef MLX_ANYWHERE_VERSION
#define MLX_ANYWHERE_VERSION "0.99.0"
#include "mlx/python/casters.h"
PYBIND11_MODULE(other, m) { m.def("f", [](const mlx::core::array& a) { return a; }); }
""")
    folder = configure_and_build(environment, tmp_path)
    text = environment.run(environment.python, "-c", "import other", cwd=folder, check=False)
    assert "ImportError: This module was built against mlx-anywhere 0.99.0" in text
    assert "Build the module again." in text


@pytest.mark.timeout(900)
def test_messages_of_the_porting_page(environment, tmp_path):
    """The errors in the documentation's table are the printed ones."""
    page = (ROOT / "docs" / "porting.md").read_text()

    def expect(message: str, *command: object, cwd: Path = tmp_path) -> None:
        printed = environment.run(*command, cwd=cwd, check=False)
        for part in message.split("..."):
            assert part.strip() in printed
        assert message in page

    copy = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "extension", copy)
    build = (environment.python, "setup.py", "build_ext", "--inplace")
    environment.run(*build, cwd=copy)
    shutil.copytree(copy, tmp_path / "moved")
    moved = "The current CMakeCache.txt directory ... is different"
    expect(moved, *build, cwd=tmp_path / "moved")
    by_hand = ("cmake", "-S", copy, "-B", "b", f"-DPython_EXECUTABLE={environment.python}")
    pybind11 = environment.run(environment.python, "-m", "pybind11", "--cmakedir", cwd=tmp_path)
    missing = "mlx_build_metallib: OUTPUT_DIRECTORY is missing"
    expect(missing, *by_hand, f"-Dpybind11_DIR={pybind11.strip()}")

    library = copy / "mlx_swiglu" / "mlx_swiglu.metallib"
    program = "import mlx.core as mx, mlx_swiglu as m; print(m.swiglu(mx.ones(3), mx.ones(3)))"
    run = (environment.python, "-c", program)
    library.write_bytes(b"MTLB" + bytes(200))  # as Apple's tools write them
    expect("... not a .metallib of this compiler", *run, cwd=copy)
    library.unlink()
    expect("Unable to load the library ...: No such file or directory", *run, cwd=copy)

    (tmp_path / "kernels").mkdir()
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "x.h").write_text("")
    source = tmp_path / "kernels" / "k.metal"
    for message, text in {
        "'../common/x.h' file not found": '#include "../common/x.h"',
        "no template named 'texture2d'": "kernel void f(texture2d<float> t [[texture(0)]]) {}",
    }.items():
        source.write_text(text)
        expect(message, environment.python, "-m", "mlx._metalc", "--emit", "llvm", source)
    source.write_text('#include "../common/x.h"\nkernel void f(device int* x) { x[0] = 1; }')
    metalc = (environment.python, "-m", "mlx._metalc", "-I", "common", "-o", "k.metallib", source)
    environment.run(*metalc, cwd=tmp_path)


@pytest.mark.timeout(900)
def test_debug_libraries_know_their_lines(environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.24)
project(kernels LANGUAGES CXX)
find_package(MLX CONFIG REQUIRED)
mlx_build_metallib(TARGET a TITLE debug SOURCES k.metal OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} DEBUG ON)
mlx_build_metallib(TARGET b TITLE plain SOURCES k.metal OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
""")
    (tmp_path / "k.metal").write_text("""
#ifndef MLX_METAL_DEBUG
#define MLX_METAL_DEBUG 0
#endif
kernel void f(device float* x) {
  x[0] = 7 + MLX_METAL_DEBUG;
}
""")
    root = environment.run(environment.python, "-m", "mlx", "--cmake-dir", cwd=tmp_path).strip()
    environment.run("cmake", "-S", ".", "-B", "build", f"-DMLX_ROOT={root}", cwd=tmp_path)
    environment.run("cmake", "--build", "build", cwd=tmp_path)

    def code(title: str) -> str:
        library = tmp_path / "build" / f"{title}.metallib"
        command = (environment.python, "-m", "mlx._metalc", "--emit", "llvm", library)
        return environment.run(*command, cwd=tmp_path)

    assert "DILocation(line: 6," in code("debug") and "8.0" in code("debug")
    assert "DILocation" not in code("plain") and "7.0" in code("plain")


@pytest.mark.timeout(900)
def test_cpp_program(environment, tmp_path):
    copy = tmp_path / "cpp"
    shutil.copytree(ROOT / "examples" / "cpp", copy)
    cmake_dir = environment.run(environment.python, "-m", "mlx", "--cmake-dir", cwd=copy).strip()
    environment.run("cmake", "-S", ".", "-B", "build", f"-DMLX_ROOT={cmake_dir}", cwd=copy)
    environment.run("cmake", "--build", "build", cwd=copy)
    text = environment.run(copy / "build" / "example", cwd=tmp_path)
    slope, offset = (
        float(text.split(word)[1].split()[0].rstrip(",")) for word in ("slope", "offset")
    )
    assert abs(slope - 3) < 0.02 and abs(offset - 0.5) < 0.02
    assert re.search(r"sums of rows array\(\[ *6, 22, 38\], dtype=float32\)", text)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page, count, printed",
    [
        ("writing_extensions", 4, "array([0.731059, 0.731059, 0.731059], dtype=float32)"),
        ("porting", 3, "the last of 1000 values is 499.5"),
    ],
)
def test_shell_blocks_of_the_guide(environment, page, count, printed, tmp_path):
    """The commands on the pages about extensions run in order in a copy of the examples."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    blocks = re.findall(r"^```shell\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= count
    for name in ("extension", "cpp", "metal_cpp"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    metalc = environment.bin / "metalc"
    if not metalc.exists():  # pip makes it where the package itself is installed
        metalc.write_text(f"#!{environment.python}\nfrom mlx._metalc import main\nmain()\n")
        metalc.chmod(0o755)
    output = [environment.run("bash", "-euc", block, cwd=tmp_path) for block in blocks]
    assert printed in "".join(output)
    kernels = {
        "swiglu.metallib": "swiglu_float32(gate [[buffer(0)]]",
        "scale.metallib": "scale(values [[buffer(0)]]",
    }
    for library in tmp_path.glob("*.metallib"):
        assert kernels[library.name] in environment.run(metalc, "--list", library, cwd=tmp_path)
