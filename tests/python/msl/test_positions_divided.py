"""Positions divided by constants, in threadgroups of all lengths: the assumptions of vector code
about their alignment must hold for partial threadgroups and for odd lengths."""

import mlx.core as mx
import numpy as np
import pytest

SOURCE = """
    uint x = thread_position_in_grid.x, y = thread_position_in_grid.y;
    uint i = y * threads_per_grid.x + x;
    uint index = thread_index_in_threadgroup;
    ((device uint4*)out)[i] = uint4(x / 32, x % 16, (x & 63) ^ 5, x < 96 ? table[x / 8] : table[x % 4]);
    ((device uint4*)more)[i] = uint4(index / 16, index & 31, thread_position_in_threadgroup.x >> 3,
                    (x | 3) + (x >> 5) * 7);
"""

LANES = """
    uint x = thread_position_in_grid.x;
    ((device uint4*)out)[x] = uint4(x / 32, simd_sum(x / 32), simd_shuffle_xor(x, 1), simd_max(x % 8));
    ((device uint4*)more)[x] = uint4(thread_index_in_simdgroup, simdgroup_index_in_threadgroup, x >> 6, x & 1);
"""


def run(source: str, grid, threadgroup) -> tuple[np.ndarray, np.ndarray]:
    kernel = mx.fast.metal_kernel(
        name="positions", input_names=["table"], output_names=["out", "more"], source=source
    )
    shape = (grid[0] * grid[1], 4)
    out, more = kernel(
        inputs=[mx.arange(200).astype(mx.uint32) * 3],
        grid=grid,
        threadgroup=threadgroup,
        output_shapes=[shape, shape],
        output_dtypes=[mx.uint32, mx.uint32],
    )
    return np.array(out), np.array(more)


@pytest.mark.parametrize("width", [8, 16, 24, 32, 48, 64, 96, 100, 128, 160, 256, 512])
@pytest.mark.parametrize("length", [64, 100, 128, 160, 352, 640])
def test_positions(length, width):
    rows = 3
    out, more = run(SOURCE, (length, rows, 1), (width, 2, 1))
    x = np.tile(np.arange(length), rows)
    y = np.repeat(np.arange(rows), length)
    cut = np.minimum(width, length - x // width * width)
    index = y % 2 * cut + x % width
    entry = 3 * np.where(x < 96, x // 8, x % 4)
    np.testing.assert_array_equal(out, np.stack([x // 32, x % 16, (x & 63) ^ 5, entry], 1))
    expected = [index // 16, index & 31, x % width >> 3, (x | 3) + (x >> 5) * 7]
    np.testing.assert_array_equal(more, np.stack(expected, 1))


@pytest.mark.parametrize("width", [32, 64, 96, 160, 256])
@pytest.mark.parametrize("length", [64, 128, 224, 320, 672])
def test_lanes(length, width):
    out, more = run(LANES, (length, 1, 1), (width, 1, 1))
    x = np.arange(length)
    lane = x % width % 32
    unit = x // width * 100 + x % width // 32
    ends = np.flatnonzero(np.diff(unit, append=-1)) + 1
    sums = np.concatenate([np.full(len(u), u.sum()) for u in np.split(x // 32, ends[:-1])])
    expected = [x // 32, sums, x ^ 1, np.full(length, 7)]
    np.testing.assert_array_equal(out, np.stack(expected, 1))
    np.testing.assert_array_equal(more, np.stack([lane, x % width // 32, x >> 6, x & 1], 1))
