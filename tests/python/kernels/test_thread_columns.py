"""Every thread works on a column: the threads of a gang read beside each other, row after row."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

COLUMNS = {
    "sums": """
        uint column = thread_position_in_grid.x;
        int sum = 0;
        for (uint row = 0; row < HEIGHT; ++row) sum = sum * 3 + x[row * WIDTH + column];
        o[column] = sum;""",
    "sums of guarded columns": """
        int column = thread_position_in_grid.x;
        if (column >= x_shape[1]) return;
        int sum = 0;
        for (int row = 0; row < x_shape[0]; ++row) sum = sum * 3 + x[row * x_shape[1] + column];
        o[column] = sum;""",
    "sums, pointer moved": """
        uint column = thread_position_in_grid.x;
        if (column < WIDTH) {
            const device int* p = x + column;
            int sum = 0;
            for (uint row = 0; row < HEIGHT; ++row, p += x_shape[1]) sum = sum * 3 + *p;
            o[column] = sum;
        }""",
    "sums up to a zero": """
        uint column = thread_position_in_grid.x;
        if (column >= WIDTH) return;
        int sum = 0;
        for (uint row = 0; row < HEIGHT; ++row) {
            int value = x[row * WIDTH + column];
            if (value == 0) break;
            sum = sum * 3 + value;
        }
        o[column] = sum;""",
}


def expected_sums(name: str, x: np.ndarray) -> np.ndarray:
    sums = np.zeros(x.shape[1], np.int64)
    going_on = np.ones(x.shape[1], bool)
    for row in x:
        if name == "sums up to a zero":
            going_on &= row != 0
        sums = np.where(going_on, (sums * 3 + row).astype(np.int32), sums)
    return sums


# Rows of threads that are several sets of gangs, one set and some gangs, and some threads more.
SIZES = share([(1024, 512), (2048, 256), (640, 320), (700, 350), (256, 32), (301, 301)])


@pytest.mark.parametrize(("width", "threads"), SIZES)
@pytest.mark.parametrize("height", [1, 50])
@pytest.mark.parametrize("name", COLUMNS)
def test_sums(name: str, height: int, width: int, threads: int, rng):
    x = rng.integers(-20, 20, (height, width)).astype(np.int32)
    sums = run_one(
        COLUMNS[name],
        {"x": x},
        {"o": ((width,), mx.int32)},
        width,
        threads,
        template=[("HEIGHT", height), ("WIDTH", width)],
    )
    np.testing.assert_array_equal(sums, expected_sums(name, x))


@pytest.mark.parametrize("name", ["sums of guarded columns", "sums, pointer moved"])
@pytest.mark.parametrize("width", [1, 255, 260, 600, 1025])
def test_more_threads_than_columns(name: str, width: int, rng):
    x = rng.integers(-20, 20, (30, width)).astype(np.int32)
    sums = run_one(
        COLUMNS[name],
        {"x": x},
        {"o": ((width,), mx.int32)},
        -(-width // 512) * 512,
        512,
        template=[("HEIGHT", 30), ("WIDTH", width)],
    )
    np.testing.assert_array_equal(sums, expected_sums(name, x))


RUNNING = """
    uint column = thread_position_in_grid.x;
    int sum = 0;
    for (int row = 0; row < x_shape[0]; ++row) {
        uint place = row * x_shape[1] + column;
        o[place] = sum += x[place];
    }
"""


@pytest.mark.parametrize(("width", "threads"), SIZES)
def test_running_sums(width: int, threads: int, rng):
    x = rng.integers(-1000, 1000, (40, width)).astype(np.int32)
    sums = run_one(RUNNING, {"x": x}, {"o": (x.shape, mx.int32)}, width, threads)
    np.testing.assert_array_equal(sums, x.cumsum(0))


PRODUCTS = """
    uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
    float sum = 0;
    for (int k = 0; k < a_shape[1]; ++k) sum += a[row * a_shape[1] + k] * b[k * b_shape[1] + column];
    o[row * b_shape[1] + column] = sum;
"""


def test_products(rng):
    a, b = rng.standard_normal((9, 70)), rng.standard_normal((70, 600))
    inputs = {"a": a.astype(np.float32), "b": b.astype(np.float32)}
    products = run_one(PRODUCTS, inputs, {"o": ((9, 600), mx.float32)}, (600, 9, 1), (300, 1, 1))
    np.testing.assert_allclose(products, a @ b, rtol=1e-4, atol=1e-4)
