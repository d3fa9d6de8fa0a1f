"""Kernels for other processors than the one at hand: MLX_CPU_TARGET restricts the instructions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

pytestmark = pytest.mark.cpu_kernels

HERE = Path(__file__).resolve().parent
METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
SLICE = [
    HERE / "test_metal_kernel.py",
    HERE / "test_metal_kernel_phases.py",
    HERE / "test_metal_kernel_simd_groups.py",
    HERE / "test_metal_kernel_tiles.py",
    HERE / "msl" / "test_atomic_tables.py",
    HERE / "msl" / "test_comparisons.py",
    HERE / "msl" / "test_conversions.py",
    HERE / "msl" / "test_guards.py",
    HERE / "msl" / "test_integer_functions.py",
    HERE / "msl" / "test_kernel_files.py",
    HERE / "msl" / "test_lane_types.py",
    HERE / "msl" / "test_simdgroup.py",
    HERE / "msl" / "test_simdgroup_matrix.py",
]
# The widest registers of each processor.
REGISTERS = {"x86-64-v2": "xmm", "x86-64-v3": "ymm", "x86-64-v4": "zmm"}
FEATURES = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}

cpu_flags = set(Path("/proc/cpuinfo").read_text().split())
on_x86 = pytest.mark.skipif("sse2" not in cpu_flags, reason="processors of another kind")


def run(command: list[object], target: str) -> subprocess.CompletedProcess:
    """Runs a command for this target processor; returns its output."""
    return subprocess.run(
        list(map(str, command)),
        env=os.environ | {"MLX_CPU_TARGET": target},
        capture_output=True,
        text=True,
    )


def widest_register(assembly: str) -> str:
    """The widest kind of register in the assembly."""
    return max(re.findall(r"%([xyz]mm)\d", assembly))


@on_x86
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "target", [name for name, feature in FEATURES.items() if feature in cpu_flags]
)
def test_kernels_run(target: str):
    result = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SLICE], target)
    assert result.returncode == 0, result.stdout[-8000:]


KERNELS = """\
#include <metal_stdlib>
using namespace metal;
kernel void exponential(const device float* x, device float* y,
                        uint i [[thread_position_in_grid]]) {
  y[i] = exp(x[i]);
}
kernel void branches(const device float* x, device half* y, uint i [[thread_position_in_grid]]) {
  float value = x[i];
  while (value > 1) value *= 0.5f;
  if (value > 0) y[i] = half(value);
}
kernel void sums(const device float* x, device float* y, uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float shared[32];
  shared[lane] = simd_sum(x[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = shared[31 - lane] + simd_shuffle_xor(x[i], 1);
}
"""


@on_x86
@pytest.mark.parametrize("target", REGISTERS)
def test_kernels_compile(target: str, tmp_path: Path):
    source = tmp_path / "kernels.metal"
    source.write_text(KERNELS)
    for name in ("exponential", "branches", "sums"):
        printed = run([METALC, "--emit", "asm", "--function", name, source], target)
        assert printed.returncode == 0, printed.stderr
        assert widest_register(printed.stdout) == REGISTERS[target]


ROW_SUMS = """\
#include <metal_stdlib>
using namespace metal;
kernel void row_sums(const device float* x, device float* y, constant uint& columns,
                     uint row [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint i = 0; i < columns; ++i) sum += x[row * columns + i];
  y[row] = sum;
}
kernel void column_sums(const device float* x, device float* y, constant uint& columns,
                        uint column [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint i = 0; i < columns; ++i) sum += x[i * columns + column];
  y[column] = sum;
}
"""


@on_x86
@pytest.mark.parametrize(("target", "lanes"), [("x86-64-v3", 8), ("x86-64-v4", 16)])
def test_gangs_whose_lanes_read_rows_are_half_as_wide(target: str, lanes: int, tmp_path: Path):
    source = tmp_path / "kernels.metal"
    source.write_text(ROW_SUMS)
    for name, width in (("row_sums", lanes), ("column_sums", 2 * lanes)):
        printed = run([METALC, "--emit", "llvm-opt", "--function", name, source], target)
        widths = set(map(int, re.findall(r"fadd <(\d+) x float>", printed.stdout)))
        assert max(widths) == width


LAUNCH = """
import mlx.core as mx
kernel = mx.fast.metal_kernel("copy", ["x"], ["y"], "y[0] = x[0];")
x = mx.ones((1,))
try:
    mx.eval(kernel(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1),
                   output_shapes=[(1,)], output_dtypes=[mx.float32]))
except (RuntimeError, ValueError) as error:
    print(error)
"""


@on_x86
@pytest.mark.skipif("avx512f" in cpu_flags, reason="the machine has all features")
def test_code_that_the_machine_cannot_run_is_refused():
    printed = run([sys.executable, "-c", LAUNCH], "x86-64-v4").stdout
    assert "This machine cannot run code for x86-64-v4: it lacks" in printed
    assert "avx512f" in printed


def test_unknown_processors_are_refused():
    printed = run([sys.executable, "-c", LAUNCH], "abacus").stdout
    assert "[MLX_CPU_TARGET] Unknown processor 'abacus': allowed are native" in printed
