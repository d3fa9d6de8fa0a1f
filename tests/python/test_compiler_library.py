"""The compiler, with LLVM, is loaded when first a kernel must be compiled."""

import os
import subprocess
import sys
from pathlib import Path

import mlx.core as mx

PROGRAM = """
import mlx.core as mx
import mlx.nn as nn

def libraries():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1].rpartition("/")[2] for line in maps if ".so" in line}

def print_compilers():
    print(sorted(n for n in libraries() if "LLVM" in n or "clang" in n or "compiler" in n))

print_compilers()
kernel = mx.fast.metal_kernel(
    name="scale", input_names=["x"], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = metal::exp(half(x[i])) * x[i];")
x = mx.arange(1000, dtype=mx.float32) / 1000
y, = kernel(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(1000, 1, 1),
            threadgroup=(64, 1, 1))
model = nn.Sequential(nn.Linear(1000, 10), nn.GELU())
mx.eval(y, mx.sort(mx.cumsum(y * 2)), model(x[None]))
print(round(y.sum().item(), 1))
print_compilers()
"""


def run(cache: Path) -> list[str]:
    environment = {**os.environ, "MLX_CACHE_DIR": str(cache)}
    environment.pop("MLX_CPU_TARGET", None)  # the compiler knows what named processors have
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_kernels_from_the_cache_need_no_compiler(tmp_path):
    at_import, value, after_compiling = run(tmp_path)
    assert at_import == "[]"
    assert "libmlx_metal_compiler.so" in after_compiling
    # Kernels that were still being compiled in the background when a process ended are not in the
    # cache: the next process compiles them.
    assert any(run(tmp_path) == ["[]", value, "[]"] for _ in range(5))
    x = mx.arange(1000, dtype=mx.float32) / 1000
    assert abs(float(value) - (mx.exp(x) * x).sum().item()) < 0.5
