"""Every thread works on rows of its own."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

SUM = """
    uint row = thread_position_in_grid.x;
    if (row >= x_shape[0]) return;
    LOOP
    o[row] = sum;
"""
SUMS = {
    "pointer moved": """
        const device T* from = x + row * x_shape[1];
        T sum = 0;
        for (int i = 0; i < x_shape[1]; ++i) sum = sum * 3 + *from++;""",
    "constant length": """
        T sum = 0;
        for (uint i = 0; i < LENGTH; ++i) sum = sum * 3 + x[row * LENGTH + i];""",
    "last element first": """
        T sum = 0;
        for (int i = LENGTH - 1; i >= 0; --i) sum += x[row * LENGTH + i] * T(i);""",
    "four at a time": """
        T sum = 0;
        const device T* from = x + row * LENGTH;
        int i = 0;
        for (; i + 4 <= LENGTH; i += 4)
            sum = (((sum * 3 + from[i]) * 3 + from[i + 1]) * 3 + from[i + 2]) * 3 + from[i + 3];
        for (; i < LENGTH; ++i) sum = sum * 3 + from[i];""",
    "two sums": """
        T sums[2] = {0, 0};
        for (int i = 0; i < LENGTH / 2 * 2; i += 2)
            for (int k = 0; k < 2; ++k) sums[k] = sums[k] * 3 + x[row * (LENGTH / 2 * 2) + i + k];
        T sum = sums[0] - sums[1];""",
    "vectors of two": """
        const device vec<T, 2>* from = (const device vec<T, 2>*)(x + row * (LENGTH / 2 * 2));
        vec<T, 2> sums = 0;
        for (int i = 0; i < LENGTH / 2; ++i) sums = sums * T(3) + from[i];
        T sum = sums.x - sums.y;""",
}


def expected_sums(name: str, x: np.ndarray, length: int) -> np.ndarray:
    wide = x.astype(np.int64)
    if name == "last element first":
        return (wide * np.arange(length)).sum(1)
    if name not in ("vectors of two", "two sums"):
        return (wide * 3 ** np.arange(length, dtype=np.int64)[::-1]).sum(1)
    pairs = wide.reshape(-1)[: len(x) * (length // 2 * 2)].reshape(len(x), -1, 2)
    sums = (pairs * 3 ** np.arange(length // 2, dtype=np.int64)[::-1, None]).sum(1)
    return sums[:, 0] - sums[:, 1]


# Numbers of rows that are no whole gangs; lengths that are no whole cache lines.
SIZES = [
    (5, 64, 64, mx.int32),
    (100, 256, 33, mx.int32),
    (130, 48, 100, mx.int16),
    (64, 16, 16, mx.int32),
    (77, 24, 20, mx.int8),
]
TYPES = {mx.int32: np.int32, mx.int16: np.int16, mx.int8: np.int8}


@pytest.mark.parametrize(("rows", "threads", "length", "dtype"), share(SIZES))
@pytest.mark.parametrize("name", SUMS)
def test_sums(name: str, rows: int, threads: int, length: int, dtype: mx.Dtype, rng):
    x = rng.integers(-100, 100, (rows, length)).astype(TYPES[dtype])
    sums = run_one(
        SUM.replace("LOOP", SUMS[name]),
        {"x": x},
        {"o": ((rows,), dtype)},
        -(-rows // threads) * threads,
        threads,
        template=[("T", dtype), ("LENGTH", length)],
    )
    np.testing.assert_array_equal(sums, expected_sums(name, x, length).astype(TYPES[dtype]))


RUNNING = """
    int row = thread_position_in_grid.x, width = x_shape[1];
    int sum = 0;
    for (int i = 0; i < width; ++i) o[row * width + i] = sum += x[row * width + i];
"""


@pytest.mark.parametrize(("rows", "threads"), share([(96, 32), (16, 16), (40, 64), (35, 35)]))
@pytest.mark.parametrize("length", [64, 37])
def test_running_sums(rows: int, threads: int, length: int, rng):
    x = rng.integers(-1000, 1000, (rows, length)).astype(np.int32)
    sums = run_one(RUNNING, {"x": x}, {"o": ((rows, length), mx.int32)}, rows, threads)
    np.testing.assert_array_equal(sums, x.cumsum(1))


SEVERAL = """
    threadgroup int products[ROWS];
    uint item = thread_position_in_threadgroup.x, group = threadgroup_position_in_grid.x;
    const device int* rows = x + group * ROWS * LENGTH;
    for (uint i = item; i < ROWS; i += THREADS) {
        int sum = 0;
        for (uint j = 0; j < LENGTH; ++j) sum += w[j] * rows[i * LENGTH + j];
        products[i] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = item; i < ROWS; i += THREADS) o[group * ROWS + i] = products[ROWS - 1 - i];
"""


@pytest.mark.parametrize(
    ("rows", "threads", "length"), share([(256, 64, 128), (512, 128, 32), (100, 32, 64)])
)
def test_threads_with_several_rows(rows: int, threads: int, length: int, rng):
    x = rng.integers(-1000, 1000, (3, rows, length)).astype(np.int32)
    w = rng.integers(-1000, 1000, length).astype(np.int32)
    products = run_one(
        SEVERAL,
        {"x": x, "w": w},
        {"o": ((3, rows), mx.int32)},
        3 * threads,
        threads,
        template=[("ROWS", rows), ("THREADS", threads), ("LENGTH", length)],
    )
    np.testing.assert_array_equal(products, (x @ w)[:, ::-1])
