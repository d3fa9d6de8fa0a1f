"""Grids of one to three dimensions in threadgroups of many shapes, where every thread must run once, at its place."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import run_kernel

PLACES = """
    uint3 p = thread_position_in_grid, n = threads_per_grid;
    uint i = (p.z * n.y + p.y) * n.x + p.x;
    atomic_fetch_add_explicit(&visits[i], 1u, memory_order_relaxed);
    atomic_store_explicit(&places[i], p.x | p.y << 12 | p.z << 24, memory_order_relaxed);
"""
# The same for threads of which each writes its own element, which are independent.
APART = """
    uint3 p = thread_position_in_grid, n = threads_per_grid;
    uint i = (p.z * n.y + p.y) * n.x + p.x;
    visits[i] = visits_before[i] + 1u;
    places[i] = p.x | p.y << 12 | p.z << 24;
"""


def expected_places(grid: tuple[int, int, int]) -> np.ndarray:
    z, y, x = np.meshgrid(*(np.arange(n, dtype=np.uint32) for n in grid[::-1]), indexing="ij")
    return (x | y << 12 | z << 24).ravel()


def check(grid: tuple[int, int, int], threadgroup: tuple[int, int, int], atomic: bool) -> None:
    count = int(np.prod(grid))
    visits, places = run_kernel(
        PLACES if atomic else APART,
        {} if atomic else {"visits_before": np.zeros(count, np.uint32)},
        {"visits": ((count,), mx.uint32), "places": ((count,), mx.uint32)},
        grid,
        threadgroup,
        init_value=0,
        atomic_outputs=atomic,
    )
    assert np.all(visits == 1)
    assert np.array_equal(places, expected_places(grid))


# Large grids, whose threadgroups are coarsened into longer ones where their threads are independent.
@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize(
    ("grid", "threadgroup"),
    [
        ((1024, 512, 1), (16, 16, 1)),
        ((1023, 511, 1), (16, 16, 1)),
        ((1001, 77, 5), (8, 8, 4)),
        ((4001, 130, 1), (2, 64, 1)),
        ((260, 260, 7), (4, 4, 4)),
        ((3, 1024, 129), (1, 32, 2)),
        ((2048, 300, 1), (1024, 1, 1)),
        ((513, 1025, 1), (1, 1, 1)),
    ],
)
def test_large_grids(grid: tuple, threadgroup: tuple, atomic: bool) -> None:
    check(grid, threadgroup, atomic)


sides = st.tuples(st.integers(1, 600), st.integers(1, 60), st.integers(1, 12))
shapes = st.tuples(
    st.sampled_from([1, 2, 3, 4, 7, 8, 16, 32, 40]), st.integers(1, 5), st.integers(1, 3)
)


@settings(deadline=None, max_examples=60)
@given(grid=sides, threadgroup=shapes, atomic=st.booleans())
def test_random_grids(grid: tuple, threadgroup: tuple, atomic: bool) -> None:
    check(grid, threadgroup, atomic)


# Grid-stride loops: the threads of several neighbouring threadgroups take turns.
STRIDE = """
uint at = thread_position_in_grid.y * n[0];
for (uint k = thread_position_in_grid.x; k < n[0]; k += threads_per_grid.x) {
    visits[at + k] = visits_before[at + k] + 1;
    places[at + k] = 3 * k + thread_position_in_grid.y;
}
"""


def check_strides(
    count: int, grid: tuple[int, int, int], threadgroup: tuple[int, int, int]
) -> None:
    shape = (grid[1], count)
    visits, places = run_kernel(
        STRIDE,
        {"visits_before": np.zeros(shape, np.uint32), "n": np.array([count], np.uint32)},
        {"visits": (shape, mx.uint32), "places": (shape, mx.uint32)},
        grid,
        threadgroup,
        init_value=0,
    )
    assert np.all(visits == 1)
    assert np.array_equal(places, 3 * np.arange(count) + np.arange(grid[1])[:, None])


@pytest.mark.parametrize(
    ("count", "grid", "threadgroup"),
    [
        (1 << 23, (1 << 16, 1, 1), (256, 1, 1)),  # more than the caches hold
        (5_000_003, (40_000, 1, 1), (96, 1, 1)),
        (300_000, (70_001, 1, 1), (64, 1, 1)),
        (999, (5000, 40, 1), (33, 2, 1)),
        (20_000, (3000, 9, 1), (8, 4, 1)),
        (100_000, (100, 1, 1), (1, 1, 1)),
    ],
)
def test_grid_strides(count: int, grid: tuple, threadgroup: tuple) -> None:
    check_strides(count, grid, threadgroup)


@settings(deadline=None, max_examples=40)
@given(
    count=st.integers(0, 30_000),
    columns=st.integers(1, 20_000),
    rows=st.integers(1, 3),
    threadgroup=shapes,
)
def test_random_grid_strides(count: int, columns: int, rows: int, threadgroup: tuple) -> None:
    check_strides(count, (columns, rows, 1), (*threadgroup[:2], 1))
