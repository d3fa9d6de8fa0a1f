"""The package as users get it: installed, built twice, and beside other packages."""

import os
import subprocess
import sys
import venv
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


@pytest.mark.package
@pytest.mark.timeout(1500)
def test_pip_install_in_a_clean_environment(tmp_path: Path):
    environment = tmp_path / "env"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    installed = run(python, "-m", "pip", "install", ROOT, cwd=tmp_path)
    assert installed.returncode == 0, installed.stdout[-6000:]

    result = run(python, "-c", KERNEL, cwd=tmp_path)
    assert KERNEL_OUTPUT in result.stdout, result.stdout
    where = run(python, "-c", "import mlx.core; print(mlx.core.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(environment))
    diagnosis = run(python, "-m", "mlx", cwd=tmp_path)
    assert diagnosis.returncode == 0, diagnosis.stdout


@pytest.mark.torch
@pytest.mark.parametrize("first, second", [("torch", "mlx.core"), ("mlx.core", "torch")])
def test_import_order_with_torch(first: str, second: str, tmp_path: Path):
    program = f"import {first}, {second}\n{KERNEL}\nimport torch; print(torch.ones(3).sum())"
    result = run(sys.executable, "-c", program, cwd=tmp_path)
    assert KERNEL_OUTPUT in result.stdout and "tensor(3.)" in result.stdout, result.stdout
