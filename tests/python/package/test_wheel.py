"""The package as users get it: built twice, installed alone, used by extensions."""

import re
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from commands import KERNEL, KERNEL_OUTPUT, ROOT, run, succeed


@pytest.mark.package
def test_second_build_does_nothing():
    for command in (
        ("make", "build"),
        (sys.executable, "setup.py", "build_ext", "-j2", "--inplace"),
    ):
        output = succeed(*command)
        assert "no work to do" in output, output[-2000:]


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_wheels_are_small_and_for_many_systems(wheels: Path):
    ours, name = sorted(wheels.glob("mlx*.whl"), key=lambda wheel: -wheel.stat().st_size)
    assert "-manylinux_" in ours.name
    assert ours.stat().st_size < 120e6
    assert re.match(r"mlx-.*\+anywhere-py3-none-any.whl", name.name)
    assert not any(".dist-info/" not in file for file in zipfile.ZipFile(name).namelist())


# The system's libraries that an installed package may use: those of C and C++.
SYSTEM = {
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"),
    *("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libstdc++.so.6", "libgcc_s.so.1"),
}
# A use of every library: kernels, products, convolutions, decompositions, archives.
ALL_LIBRARIES = """
import numpy


def loaded():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if ".so" in line.split()[-1]}


before = loaded()
import mlx.core as mx
import mlx.nn, mlx.optimizers
import mlx_sample_extensions.data, mlx_sample_extensions.nn
%s
one = mx.ones((1, 8, 8, 3))
mx.eval(mlx.nn.Conv2d(3, 4, 3)(one), one[0, :, :, 0] @ one[0, :, :, 1], mx.fft.fft(one))
mx.eval(mx.linalg.svd(one[0, :, :, 0], stream=mx.cpu))
mx.eval((one[0, :, :, 0].astype(mx.bfloat16) @ one[0, :, :, 1].astype(mx.bfloat16)))
mx.savez_compressed("one.npz", one)
assert mx.array_equal(mx.load("one.npz")["arr_0"], one)
point = mx.zeros((1, 2, 2, 2))
assert mlx_sample_extensions.grid_sample(one, point).tolist() == mx.ones((1, 2, 2, 3)).tolist()
print("new:", *sorted(loaded() - before))
"""


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_wheel_loads_nothing_of_the_system(installed: Path, tmp_path: Path):
    python, program = installed / "bin" / "python", ALL_LIBRARIES % KERNEL
    output = succeed(
        python, "-c", program, cwd=tmp_path, MLX_CACHE_DIR=""
    )  # without a cache, so that it compiles
    assert KERNEL_OUTPUT in output
    new = re.search(r"^new: (.*)$", output, re.MULTILINE)[1].split()
    assert any(path.endswith("/mlx/lib/libmlx.so") for path in new)
    of_python = sysconfig.get_path("stdlib")
    strange = [
        path
        for path in new
        if not path.startswith((str(installed), of_python)) and Path(path).name not in SYSTEM
    ]
    assert not strange


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_wheel_shows_nothing_of_llvm(installed: Path):
    (folder,) = installed.glob("lib/python*/site-packages/mlx/lib")
    names = succeed("nm", "-D", "--defined-only", "--demangle", folder / "libmlx_metal.so")
    assert "metal::compile(" in names
    compiler = folder / "libmlx_metal_compiler.so"
    names = succeed("nm", "-D", "--defined-only", compiler).splitlines()
    assert [line.split()[-1] for line in names] == ["metal_compiler_library"]


# Skipped: tests that need a compiler or CMake, or run programs of the build. All others pass with
# the same sources in place. Here the wheel's libraries are tested, so one test in four will do, and
# long ones are skipped, too.
NOT_IN_WHEEL_TEST = (
    "extensions/test_projects.py",
    "extensions/test_standard_headers.py",
    "test_code_version.py",
    "test_processors.py",
    "test_random_programs.py",
    "test_reference_mode.py",
    "kernels",
)


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_wheel_in_a_clean_environment_without_compilers(installed: Path, tmp_path: Path):
    python, commands = installed / "bin" / "python", str(installed / "bin")
    needed = (
        "gguf hypothesis llvmlite ml_dtypes pytest pytest-timeout pytest-xdist safetensors scipy"
    )
    succeed(python, "-m", "pip", "install", *needed.split(), cwd=tmp_path)
    where = run(python, "-c", "import mlx.core; print(mlx.core.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(installed))
    assert "usage: metalc" in run("metalc", "--help", cwd=tmp_path, PATH=commands).stdout
    for command in ("mlx.launch", "mlx.distributed_config"):
        assert f"usage: {command}" in run(command, "--help", cwd=tmp_path, PATH=commands).stdout

    tests = ROOT / "tests" / "python"
    left_out = [f"--ignore={tests / name}" for name in NOT_IN_WHEEL_TEST]
    some = (python, "-m", "pytest", "-q", "--numprocesses", "auto", "--one-in", "4", tests)
    succeed(*some, *left_out, cwd=tmp_path, PATH=commands)


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_an_extension_is_built_against_the_wheel(installed: Path, tmp_path: Path):
    python = installed / "bin" / "python"
    needed = "cmake ninja pybind11 pytest pytest-timeout setuptools wheel".split()
    succeed(python, "-m", "pip", "install", *needed, cwd=tmp_path)
    projects = ROOT / "tests" / "python" / "extensions" / "test_projects.py"
    output = succeed(python, "-m", "pytest", projects, "-k", "pip_install and example")
    assert "1 passed" in output
