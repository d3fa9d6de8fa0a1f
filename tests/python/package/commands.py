"""Runs commands as a user does, and has a kernel to test that kernels run."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
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


def run(*command: object, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess:
    """Runs a command as from a fresh shell; returns its completed process, output joined."""
    inherited = {
        k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "PYTHONPATH")
    }
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def succeed(*command: object, **how) -> str:
    """The output of a command, which must succeed."""
    done = run(*command, **how)
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout
