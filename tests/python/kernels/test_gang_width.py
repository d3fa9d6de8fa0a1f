"""Threads that keep many vectors: gangs are narrower, so that registers hold them."""

import os
import subprocess
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
PRODUCT = """
    uint i = thread_position_in_grid.x;
    float4x4 left = ((const device float4x4*)a)[i], right = ((const device float4x4*)b)[i];
    ((device float4x4*)out)[i] = left * right;
"""


def test_products_of_small_matrices(rng: np.random.Generator):
    a, b = (rng.normal(size=(333, 4, 4)).astype(np.float32) for _ in "ab")
    (out,) = run_kernel(PRODUCT, {"a": a, "b": b}, {"out": ((333, 4, 4), mx.float32)}, 333)
    # Matrices are stored column by column.
    np.testing.assert_allclose(out, b.astype(np.float64) @ a, rtol=1e-4, atol=1e-5)


@pytest.mark.cpu_kernels
def test_gangs_are_as_wide_as_a_register(tmp_path: Path):
    source = tmp_path / "product.metal"
    source.write_text(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void product(const device float4x4* a [[buffer(0)]],"
        " const device float4x4* b [[buffer(1)]], device float4x4* out [[buffer(2)]],"
        " uint i [[thread_position_in_grid]]) { out[i] = a[i] * b[i]; }\n"
    )
    printed = subprocess.run(
        [METALC, "--emit", "llvm-opt", source],
        env=os.environ | {"MLX_CPU_TARGET": "x86-64-v4"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "fadd <16 x float>" in printed and "fadd <32 x float>" not in printed
