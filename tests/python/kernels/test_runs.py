"""Rows that the threads of a threadgroup share: each thread adds a run of neighbouring elements."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

BODY = """
    threadgroup T parts[256];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    uint threads = threads_per_threadgroup.x, n = x_shape[1];
    T sum = 0;
    LOOP
    parts[item] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (item != 0) return;
    for (uint i = 1; i < threads; ++i) sum += parts[i];
    o[row] = sum;
"""
# These need rows of whole runs of LENGTH elements.
WHOLE = {
    "length is a constant": """
        const device T* from = x + row * n + item * LENGTH;
        for (int i = 0; i < LENGTH; ++i) sum += *from++;""",
    "last run first": """
        const device T* from = x + row * n + (threads - 1 - item) * LENGTH;
        for (int i = 0; i < LENGTH; ++i) sum += from[i];""",
    "length from the shape": """
        uint length = n / threads;
        for (uint i = 0; i < length; ++i) sum += x[row * n + item * length + i];""",
    "length from the shape, int, pointer moved": """
        int length = int(n) / int(threads);
        const device T* from = x + row * n + int(item) * length;
        for (int i = 0; i < length; ++i) sum += from[i];""",
    "length from the shape, last run first": """
        uint length = n / threads;
        const device T* from = x + row * n + (threads - 1 - item) * length;
        for (uint i = 0; i < length; ++i) sum += from[i];""",
}
ANY = {
    "last run is shorter": """
        uint length = (n + threads - 1) / threads, end = min(n, (item + 1) * length);
        for (uint i = item * length; i < end; ++i) sum += x[row * n + i];""",
    "last run is shorter, constant": """
        for (uint i = item * LENGTH; i < min(n, (item + 1) * LENGTH); ++i) sum += x[row * n + i];""",
    "rest by the first thread": """
        uint length = n / threads;
        for (uint i = 0; i < length; ++i) sum += x[row * n + item * length + i];
        if (item == 0)
            for (uint i = length * threads; i < n; ++i) sum += x[row * n + i];""",
}
# Rows of a gang are from a kilobyte long to too long for a prefetch; some are no whole cache lines.
SIZES = [
    (256, 16, mx.int32),
    (128, 12, mx.int32),
    (32, 300, mx.int32),
    (64, 9, mx.int32),
    (256, 32, mx.int16),
]


def check(loop: str, threads: int, length: int, columns: int, dtype: mx.Dtype, rng):
    numpy_type = np.int32 if dtype == mx.int32 else np.int16
    x = rng.integers(-1000, 1000, (5, columns)).astype(numpy_type)
    sums = run_one(
        BODY.replace("LOOP", loop),
        {"x": x},
        {"o": ((5,), dtype)},
        5 * threads,
        threads,
        template=[("T", dtype), ("LENGTH", length)],
    )
    np.testing.assert_array_equal(sums, x.sum(1, dtype=numpy_type))


@pytest.mark.parametrize(("threads", "length", "dtype"), share(SIZES))
@pytest.mark.parametrize("loop", [*WHOLE, *ANY])
def test_sums_of_runs(loop: str, threads: int, length: int, dtype: mx.Dtype, rng):
    check((WHOLE | ANY)[loop], threads, length, threads * length, dtype, rng)


@pytest.mark.parametrize(("threads", "length", "dtype"), share(SIZES))
@pytest.mark.parametrize("loop", ANY)
def test_sums_of_rows_that_are_no_whole_runs(
    loop: str, threads: int, length: int, dtype: mx.Dtype, rng
):
    check(ANY[loop], threads, length, threads * length - length // 2 - 1, dtype, rng)
