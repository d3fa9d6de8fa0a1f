"""The kernel tests once more, one thread at a time: the reference for vector code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cpu_kernels

HERE = Path(__file__).resolve().parent
KERNEL_TESTS = [
    *sorted(HERE.glob("test_metal_kernel*.py")),
    *sorted(HERE.glob("test_kernels_*.py")),
    HERE / "test_seed_pages.py",
    HERE / "kernels",
    HERE / "msl",
]


@pytest.mark.timeout(1200)
def test_kernels_in_reference_mode():
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, KERNEL_TESTS)],
        env=os.environ | {"MLX_CPU_REFERENCE": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout[-8000:]
