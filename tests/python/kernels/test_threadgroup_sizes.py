"""Kernels that ask for the size of their threadgroup, which is smaller at the edge of the grid."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, share

# A tree of sums over all threads of a threadgroup, whatever their number.
TREE = """
    threadgroup int parts[256];
    uint3 size = threads_per_threadgroup;
    uint3 grid = threads_per_grid;
    uint item = thread_index_in_threadgroup, left = size.x * size.y * size.z;
    uint at = (thread_position_in_grid.z * grid.y + thread_position_in_grid.y) * grid.x + thread_position_in_grid.x;
    parts[item] = x[at];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (; left > 1; left -= left / 2) {
        if (item < left / 2) parts[item] += parts[left - 1 - item];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    int total = parts[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = item; i < 1000; i += size.x) total += 1;
    sums[at] = total;
    for (uint i = 0; i < 3; ++i) sizes[at * 5 + i] = size[i];
    sizes[at * 5 + 3] = simdgroups_per_threadgroup;
    sizes[at * 5 + 4] = dispatch_threads_per_threadgroup.x;
"""
# The grid, and its threadgroups: whole rows of gangs, cut ones, rows and layers that are cut.
LAUNCHES = [
    ((1024, 1, 1), (256, 1, 1)),
    ((800, 1, 1), (256, 1, 1)),
    ((777, 1, 1), (256, 1, 1)),
    ((96, 20, 1), (32, 8, 1)),
    ((80, 18, 1), (64, 4, 1)),
    ((40, 12, 6), (16, 4, 4)),
    ((30, 10, 1), (20, 4, 1)),
]


@pytest.mark.parametrize(("grid", "group"), share(LAUNCHES))
def test_sums_of_cut_threadgroups(grid: tuple, group: tuple, rng):
    threads = int(np.prod(grid))
    x = rng.integers(-1000, 1000, grid[::-1]).astype(np.int32)
    sums, sizes = run_kernel(
        TREE,
        {"x": x},
        {"sums": ((threads,), mx.int32), "sizes": ((threads, 5), mx.uint32)},
        grid,
        group,
    )
    expected_sums = np.empty_like(x)
    expected_sizes = np.empty((*x.shape, 5), np.uint32)
    for first in np.ndindex(*(-(-g // t) for g, t in zip(grid[::-1], group[::-1], strict=True))):
        part = tuple(slice(i * t, (i + 1) * t) for i, t in zip(first, group[::-1], strict=True))
        shape = x[part].shape
        items = np.arange(x[part].size).reshape(shape)
        steps = -(-(1000 - items) // shape[2])
        expected_sums[part] = x[part].sum() + steps
        expected_sizes[part] = [*shape[::-1], -(-x[part].size // 32), group[0]]
    np.testing.assert_array_equal(sums, expected_sums.ravel())
    np.testing.assert_array_equal(sizes, expected_sizes.reshape(threads, 5))
