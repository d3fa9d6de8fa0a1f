"""The package as users get it: installed, built twice, and beside other packages."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
import mlx.core as mx
kernel = mx.fast.metal_kernel(
    name="twice", input_names=["a"], output_names=["b"],
    source="b[thread_position_in_grid.x] = 2 * a[thread_position_in_grid.x];",
)
a = mx.arange(5)
(b,) = kernel(inputs=[a], grid=(5, 1, 1), threadgroup=(5, 1, 1),
              output_shapes=[a.shape], output_dtypes=[a.dtype])
print("mlx says", b.tolist())
"""
KERNEL_OUTPUT = "mlx says [0, 2, 4, 6, 8]"


def run(*command: object, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    """Runs a command as from a fresh shell; returns its completed process, output joined."""
    inherited = {
        k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "PYTHONPATH")
    }
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.package
def test_second_build_does_nothing():
    for command in (
        ("make", "build"),
        (sys.executable, "setup.py", "build_ext", "-j2", "--inplace"),
    ):
        result = run(*command)
        assert result.returncode == 0, result.stdout
        assert "no work to do" in result.stdout, result.stdout[-2000:]


# Left out: what needs a compiler or CMake, what runs programs of the build, and for their time all
# kernels once more in the reference mode, and the long ones.
NOT_IN_WHEEL_TEST = (
    "extensions/test_projects.py",
    "extensions/test_standard_headers.py",
    "test_code_version.py",
    "test_random_programs.py",
    "test_reference_mode.py",
    "kernels",
)


def quick_start() -> str:
    """The commands of that page."""
    page = (ROOT / "docs" / "quick_start.md").read_text()
    return re.search(r"^```shell\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.package
@pytest.mark.timeout(3000)
def test_wheel_in_a_clean_environment_without_compilers(tmp_path: Path, monkeypatch):
    wheels, environment = tmp_path / "wheels", tmp_path / "env"
    pip = (sys.executable, "-m", "pip")
    built = run(*pip, "wheel", "--no-deps", "-w", wheels, ROOT, cwd=tmp_path)
    assert built.returncode == 0, built.stdout[-6000:]
    # The quick start's commands make the environment, with the wheel for the tree it was built from.
    wheel = next(wheels.glob("mlx_anywhere-*.whl"))
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    commands = quick_start()
    assert "pip install .\n" in commands
    commands = commands.replace("pip install .\n", f"pip install {wheel}\n")
    installed = run("bash", "-euc", commands, cwd=tmp_path)
    assert installed.returncode == 0, installed.stdout[-6000:]
    assert "Device(gpu, 0)" in installed.stdout
    python = environment / "bin" / "python"
    needed = "gguf hypothesis ml_dtypes pytest pytest-timeout safetensors scipy".split()
    installed = run(python, "-m", "pip", "install", *needed, cwd=tmp_path)
    assert installed.returncode == 0, installed.stdout[-6000:]

    monkeypatch.setenv("PATH", str(environment / "bin"))
    result = run(python, "-c", KERNEL, cwd=tmp_path)
    assert KERNEL_OUTPUT in result.stdout, result.stdout
    where = run(python, "-c", "import mlx.core; print(mlx.core.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(environment))
    command = run("metalc", "--help", cwd=tmp_path)
    assert "usage: metalc" in command.stdout

    tests = ROOT / "tests" / "python"
    left_out = [f"--ignore={tests / name}" for name in NOT_IN_WHEEL_TEST]
    passed = run(python, "-m", "pytest", "-q", tests, *left_out, cwd=tmp_path)
    assert passed.returncode == 0, passed.stdout[-6000:]


# Packages that bring an LLVM of their own, and a use of it.
NEIGHBOURS = {
    "torch": "print('neighbour says', int(torch.ones(3).sum()))",
    "triton": "import triton._C.libtriton as t; t.llvm.init_targets(); print('neighbour says 3')",
    "llvmlite.binding": """
module = llvmlite.binding.parse_assembly("define i32 @three() { ret i32 3 }")
llvmlite.binding.initialize_native_target()
llvmlite.binding.initialize_native_asmprinter()
machine = llvmlite.binding.Target.from_default_triple().create_target_machine()
engine = llvmlite.binding.create_mcjit_compiler(module, machine)
engine.finalize_object()
import ctypes
three = ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address("three"))
print("neighbour says", three())
""",
}


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("order", ["before", "after", "between"])
def test_import_order(neighbour: str, order: str, tmp_path: Path):
    package = neighbour.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    imports = {
        "before": f"import {neighbour}\nimport mlx.core",
        "after": f"import mlx.core\nimport {neighbour}",
        # Both compilers have run before the other package comes.
        "between": f"{KERNEL}\nimport {neighbour}",
    }[order]
    program = f"{imports}\n{NEIGHBOURS[neighbour]}\n{KERNEL}\n{NEIGHBOURS[neighbour]}"
    result = run(sys.executable, "-c", program, cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    assert KERNEL_OUTPUT in result.stdout and "neighbour says 3" in result.stdout, result.stdout
