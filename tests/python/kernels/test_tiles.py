"""Kernels whose threadgroups share tiles: rows of threads read the same elements between barriers."""

import subprocess
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

# Each thread computes one element of a product. The tiles are as wide and high as the threadgroup.
PRODUCT = """
    threadgroup float left[H][D], right[D][W];
    const uint3 in = thread_position_in_threadgroup;
    const uint row = threadgroup_position_in_grid.y * H + in.y;
    const uint column = threadgroup_position_in_grid.x * W + in.x;
    const uint depth = a_shape[1], width = b_shape[1];
    float sum = 0;
    for (uint k = 0; k < depth; k += D) {
        for (uint i = in.x; i < D; i += W)
            left[in.y][i] = row < a_shape[0] && k + i < depth ? a[row * depth + k + i] : 0;
        for (uint i = in.y; i < D; i += H)
            right[i][in.x] = k + i < depth && column < width ? b[(k + i) * width + column] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < D; ++i) sum += left[in.y][i] * right[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < a_shape[0] && column < width) c[row * width + column] = sum;
"""


@pytest.mark.parametrize(
    ("width", "height", "depth"),
    [(8, 8, 8), (16, 16, 16), (32, 32, 32), (16, 4, 12), (24, 6, 16), (12, 8, 8), (64, 2, 5)]
    + [(8, 32, 32), (48, 10, 3), (8, 1, 8), (40, 12, 8)],
)
def test_product_in_tiles(rng, width, height, depth):
    a = rng.standard_normal((70, 45)).astype(np.float32)
    b = rng.standard_normal((45, 99)).astype(np.float32)
    c = run_one(
        PRODUCT,
        {"a": a, "b": b},
        {"c": ((70, 99), mx.float32)},
        (-(-99 // width) * width, -(-70 // height) * height, 1),
        (width, height, 1),
        template=[("W", width), ("H", height), ("D", depth)],
    )
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


# Atomic operations beside shared reads: those of other rows must not get lost.
COUNTED = """
    threadgroup float tile[64];
    threadgroup atomic_uint count[4];
    const uint3 in = thread_position_in_threadgroup;
    const uint index = thread_index_in_threadgroup;
    if (index < 64) tile[index] = x[index];
    if (index < 4) atomic_store_explicit(&count[index], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint i = 0; i < 64; ++i) sum += tile[i] * tile[(i + in.x) % 64];
    if (sum > 0) atomic_fetch_add_explicit(&count[0], 1, memory_order_relaxed);
    atomic_fetch_max_explicit(&count[1], index, memory_order_relaxed);
    uint before = atomic_fetch_add_explicit(&count[2 + in.y % 2], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sums[index] = sum;
    if (index < 4) counts[index] = atomic_load_explicit(&count[index], memory_order_relaxed);
    atomic_fetch_add_explicit(&seen[before], 1, memory_order_relaxed);
"""


@pytest.mark.parametrize(("width", "height"), [(16, 16), (32, 8), (8, 32), (64, 4)])
def test_atomics_beside_shared_reads(rng, width, height):
    x = rng.standard_normal(64).astype(np.float32)
    threads = width * height
    kernel = mx.fast.metal_kernel(
        name="counted",
        input_names=["x"],
        output_names=["sums", "counts", "seen"],
        source=COUNTED.replace("&seen[", "(device atomic_uint*)&seen["),
    )
    sums, counts, seen = map(
        np.array,
        kernel(
            inputs=[mx.array(x)],
            grid=(width, height, 1),
            threadgroup=(width, height, 1),
            output_shapes=[(threads,), (4,), (threads // 2,)],
            output_dtypes=[mx.float32, mx.uint32, mx.uint32],
            init_value=0,
        ),
    )
    rows = [(x * np.roll(x, -shift).astype(np.float64)).sum() for shift in range(width)]
    np.testing.assert_allclose(sums, np.tile(rows, height), rtol=1e-4, atol=1e-4)
    assert counts.tolist() == [(sums > 0).sum(), threads - 1, threads // 2, threads // 2]
    assert (seen == 2).all()


# Rows of the threadgroup take different paths between the barriers.
PATHS = """
    threadgroup float tile[64];
    const uint3 in = thread_position_in_threadgroup;
    const uint index = thread_index_in_threadgroup, row = in.y + in.z * HEIGHT;
    float sum = 0;
    for (uint round = 0; round < 3; ++round) {
        if (index < 64) tile[index] = x[round * 64 + index];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 48; ++i) sum += tile[i] * (i + in.x);
        if (row % 3 == 1) {
            for (uint i = 0; i < row; ++i) sum += tile[i] * 0.5f;
        } else if (row == 4) {
            sum -= tile[in.x];
        }
        for (uint i = in.x; i < 64; i += 7 + row) {
            if (tile[i] < 0 && row > 1) break;
            sum += tile[63 - i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[index] = sum + OF_SIMD_GROUP;
"""


def sums_of_paths(x: np.ndarray, width: int, rows: int) -> np.ndarray:
    result = np.zeros((rows, width))
    for row in range(rows):
        for column in range(width):
            total = 0.0
            for tile in x.astype(np.float64).reshape(3, 64):
                total += np.sum(tile[:48] * (np.arange(48) + column))
                if row % 3 == 1:
                    total += tile[:row].sum() * 0.5
                elif row == 4:
                    total -= tile[column]
                for i in range(column, 64, 7 + row):
                    if tile[i] < 0 and row > 1:
                        break
                    total += tile[63 - i]
            result[row, column] = total
    return result


@pytest.mark.parametrize(
    "size", [(32, 8, 1), (16, 8, 1), (8, 8, 1), (8, 16, 2), (24, 4, 1), (64, 4, 1), (20, 6, 1)]
)
@pytest.mark.parametrize("simd", [False, True])
def test_rows_on_different_paths(rng, size, simd):
    x = rng.standard_normal(192).astype(np.float32)
    width, rows = size[0], size[1] * size[2]
    y = run_one(
        PATHS.replace("OF_SIMD_GROUP", "simd_sum(1.0f * in.x)" if simd else "0"),
        {"x": x},
        {"y": ((rows, width), mx.float32)},
        size,
        size,
        template=[("HEIGHT", size[1])],
    )
    want = sums_of_paths(x, width, rows)
    if simd:
        columns = np.tile(np.arange(width), rows)
        for first in range(0, columns.size, 32):
            want.reshape(-1)[first : first + 32] += columns[first : first + 32].sum()
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=2e-3)


# Each thread guards many results between barriers.
GUARDED = """
    #include <metal_stdlib>
    using namespace metal;
    kernel void guarded(device float* y [[buffer(0)]], const device float* x [[buffer(1)]],
                        constant int& n [[buffer(2)]], uint t [[thread_index_in_threadgroup]]) {
      threadgroup float tile[50][128];
      for (int k = 0; k < 2; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma clang loop unroll(full)
        for (int i = 0; i < 50; ++i) {
          tile[i][t] = 1;
          if (int(t + i * 3) < n) tile[i][t] = x[i * 128 + t] + k;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma clang loop unroll(full)
        for (int i = 0; i < 50; ++i)
          if (int(t + i * 2) < n - 1) y[i * 128 + t] += tile[i][t ^ 1];
      }
    }
"""


def test_many_guards_between_barriers(rng: np.random.Generator, tmp_path: Path):
    """Threads run from barrier to barrier in loops: as coroutines, they would take long to compile."""
    x = rng.standard_normal((50, 128)).astype(np.float32)
    kernel = mx.fast.metal_kernel(name="guarded", source=GUARDED)
    got = kernel(mx.zeros((50, 128)), mx.array(x), 111, grid=(128, 1, 1), threadgroup=(128, 1, 1))
    i, t = np.indices((50, 128))
    tiles = [np.where(t + i * 3 < 111, x + k, 1)[:, np.arange(128) ^ 1] for k in range(2)]
    want = np.where(t + i * 2 < 110, tiles[0] + tiles[1], 0)
    np.testing.assert_allclose(np.array(got), want, rtol=1e-6)

    (tmp_path / "guarded.metal").write_text(GUARDED)
    metalc = Path(mx.__file__).resolve().parent / "bin" / "metalc"
    command = [metalc, "--emit", "llvm-opt", tmp_path / "guarded.metal"]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "kernel_entry" in code and "gang.resume" not in code
