"""The sample package on a device with memory of its own, whose kernels are others than the host's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = [
    "test_distances.py",
    "test_grid_sample.py",
    "test_neighbors.py",
    "test_paired_distance.py",
    "test_segments.py",
    "test_sparse_product_rules.py",
    "test_sparse_products.py",
]


@pytest.mark.cpu_kernels
@pytest.mark.parametrize("file", FILES)
def test_other_kernels(file):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not cpu_kernels",
        "-p",
        "no:cacheprovider",
    ]
    result = subprocess.run(
        [*command, str(Path(__file__).with_name(file))],
        env={**os.environ, "MLX_METAL_DEVICE": "discrete"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
