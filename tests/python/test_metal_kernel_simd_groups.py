"""SIMD-groups that each work on a row, and all read the same vector. They run several at once."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

COLUMNS = 96
START = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device int* from = w + row * n[1];
    int sum = 0;
"""
END = """
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
"""
TERM = "from[i] * ((x[i] * 3 ^ 85) + x[i] * x[i])"
LOOP = f"for (uint i = lane; i < n[1]; i += 32) {{ sum += {TERM}; }}"
GUARD = "if (row >= n[0]) return;"

# A kernel, and a row's result from its number and the terms of its sum.
BODIES = {
    "guarded": (START + GUARD + LOOP + END, lambda row, terms: terms.sum()),
    "inside a guard": (
        START + "if (row < n[0]) {" + LOOP + END + "}",
        lambda row, terms: terms.sum(),
    ),
    "two guards": (
        START + GUARD + "if (x[0] > 1000 || row % 7 == 3) return;" + LOOP + END,
        lambda row, terms: 0 if row % 7 == 3 else terms.sum(),
    ),
    "guard after a result": (
        START + GUARD + "if (lane == 0) y[row] = 5; if (row % 3 == 1) return;" + LOOP + END,
        lambda row, terms: 5 if row % 3 == 1 else terms.sum(),
    ),
    "rows of different lengths": (
        START + GUARD + f"for (uint i = lane; i < row % 4 * 32; i += 32) sum += {TERM};" + END,
        lambda row, terms: terms[: row % 4 * 32].sum(),
    ),
    "rows that skip": (
        START + GUARD + LOOP.replace("sum +=", "if (row % 2 || i % 2) sum +=") + END,
        lambda row, terms: terms.sum() if row % 2 else terms[1::2].sum(),
    ),
    "results that are read again": (
        START
        + GUARD
        + LOOP.replace(
            "sum +=",
            """
            simdgroup_barrier(mem_flags::mem_device);  // all have read the one before
            if (lane == 0) y[row] = i;
            simdgroup_barrier(mem_flags::mem_device);
            sum += y[row] + lane - i +""",
        )
        + END,
        lambda row, terms: terms.sum(),
    ),
    "counts in threadgroup memory": (
        """
        threadgroup atomic_int counts[32];
        uint group = simdgroup_index_in_threadgroup;
        """
        + START
        + GUARD
        + """
        atomic_store_explicit(&counts[group], 0, memory_order_relaxed);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        """
        + LOOP.replace("sum +=", "atomic_fetch_add_explicit(&counts[group],").replace(
            "; }", ", memory_order_relaxed); }"
        )
        + """
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) y[row] = atomic_load_explicit(&counts[group], memory_order_relaxed);
        """,
        lambda row, terms: terms.sum(),
    ),
}


@pytest.mark.parametrize("name", share(list(BODIES)))
@pytest.mark.parametrize("rows", [1, 4, 11, 64])
@pytest.mark.parametrize("threadgroup", [64, 128, 256, 96])
def test_rows_of_simd_groups(name, rows, threadgroup):
    body, sum_of = BODIES[name]
    random = np.random.default_rng(0)
    w = random.integers(-1000, 1000, (rows, COLUMNS), dtype=np.int32)
    x = random.integers(-100, 100, COLUMNS, dtype=np.int32)
    groups = -(-rows * 32 // threadgroup)
    result = run_one(
        body,
        {"w": w, "x": x, "n": np.array([rows, COLUMNS], np.uint32)},
        {"y": ((rows,), mx.int32)},
        groups * threadgroup,
        threadgroup,
        init_value=0,
    )
    terms = w * ((x * 3 ^ 85) + x * x)
    np.testing.assert_array_equal(result, [sum_of(row, terms[row]) for row in range(rows)])
