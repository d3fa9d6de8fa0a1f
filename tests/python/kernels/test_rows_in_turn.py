"""Threads with rows of their own, whose loops may run their iterations in any order."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, share

# Each stores 3 x + 7 c + row to its row.
WRITES = {
    "index": """
        for (uint i = 0; i < uint(width); ++i)
            o[row * width + i] = x[row * width + i] * 3 + w[i] * 7 + T(row);""",
    "constant length": """
        for (int i = 0; i < LENGTH; ++i)
            o[row * LENGTH + i] = x[row * LENGTH + i] * 3 + w[i] * 7 + T(row);""",
    "pointers": """
        const device T *from = x + row * width, *v = w, *end = from + width;
        device T* to = o + row * width;
        while (from != end) *to++ = *from++ * 3 + *v++ * 7 + T(row);""",
    "size_t": """
        for (size_t i = 0; i < size_t(width); ++i)
            o[size_t(row) * width + i] = x[size_t(row) * width + i] * 3 + w[i] * 7 + T(row);""",
    "index of all elements": """
        for (uint i = row * width; i < (row + 1) * width; ++i)
            o[i] = x[i] * 3 + w[i - row * width] * 7 + T(row);""",
    "two steps, in place": """
        for (int i = 0; i < width; ++i) o[row * width + i] = x[row * width + i];
        for (int i = 0; i < width; ++i) o[row * width + i] *= 3;
        for (int i = 0; i < width; ++i) o[row * width + i] += w[i] * 7 + T(row);""",
    "number of the column": """
        for (ushort i = 0; i < ushort(width); ++i)
            o[row * width + i] = x[row * width + i] * 3 + w[i] * 7 + T(row) + T(i) - T(i);""",
    "from the second column": """
        o[row * width] = x[row * width] * 3 + w[0] * 7 + T(row);
        for (int i = 1; i < width; ++i)
            o[row * width + i] = x[row * width + i] * 3 + w[i] * 7 + T(row);""",
    "two buffers": """
        for (int i = 0; i < width; ++i) {
            o[row * width + i] = x[row * width + i] * 3 + w[i] * 7 + T(row);
            p[row * width + i] = w[i];
        }""",
}
# Numbers of rows that are no whole gangs; lengths that leave iterations for some of the lanes, and
# rows that are too short.
SIZES = [  # rows, threads, length, type
    (5, 64, 64, mx.int32),
    (100, 256, 133, mx.int32),
    (130, 48, 100, mx.int16),
    (64, 16, 256, mx.int32),
    (77, 24, 129, mx.int8),
    (96, 32, 9, mx.int32),
    (128, 64, 160, mx.float32),
    (64, 64, 8, mx.int32),
    (96, 32, 32, mx.int32),
    (70, 128, 45, mx.int16),
    (128, 64, 63, mx.int8),
]
TYPES = {mx.int32: np.int32, mx.int16: np.int16, mx.int8: np.int8, mx.float32: np.float32}
GUARDED = """
    uint row = thread_position_in_grid.x;
    int width = x_shape[1];
    if (GUARD) {
        BODY
    }
"""


def arrays(rng, rows: int, length: int, dtype: mx.Dtype) -> tuple[np.ndarray, np.ndarray]:
    made = rng.integers(-100, 100, (rows + 1, length)).astype(TYPES[dtype])
    return made[:rows], made[rows]


# Of whole gangs, or of some lanes of each gang.
GUARDS = ["row < uint(x_shape[0])", "row < uint(x_shape[0]) && row % 5 != 0"]


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize(("rows", "threads", "length", "dtype"), share(SIZES))
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, rows: int, threads: int, length: int, dtype: mx.Dtype, guard: str, rng):
    x, w = arrays(rng, rows, length, dtype)
    output, _ = run_kernel(
        GUARDED.replace("GUARD", guard).replace("BODY", WRITES[name]),
        {"x": x, "w": w},
        {"o": (x.shape, dtype), "p": (x.shape, dtype)},
        -(-rows // threads) * threads,
        threads,
        template=[("T", dtype), ("LENGTH", length)],
        init_value=1,
    )
    row = np.arange(rows)[:, None]
    expected = (x.astype(np.int64) * 3 + w * 7 + row).astype(x.dtype)
    if guard == GUARDS[1]:
        expected[::5] = 1
    np.testing.assert_array_equal(output, expected)


# Reductions of x + w, starting with 5, and what NumPy makes of them.
FOLDS = {
    "sum": ("all += x[row * width + i] + w[i]", np.add),
    "product": ("all *= (x[row * width + i] + w[i]) | 1", np.multiply),
    "smallest": ("all = min(all, x[row * width + i] + w[i])", np.minimum),
    "largest": ("all = max(all, x[row * width + i] + w[i])", np.maximum),
    "and": ("all &= x[row * width + i] + w[i]", np.bitwise_and),
    "or": ("all |= x[row * width + i] + w[i]", np.bitwise_or),
}
FOLD = """
    T all = 5;
    for (int i = 0; i < LENGTH; ++i) STEP;
    o[row] = all;
"""
INTEGERS = {mx.int32: np.int32, mx.uint32: np.uint32, mx.int64: np.int64}


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("length", ["LENGTH", "width"])
@pytest.mark.parametrize(
    ("rows", "threads", "size", "dtype"),
    share([(100, 64, 133, mx.int32), (64, 16, 128, mx.uint32), (33, 33, 200, mx.int64)]),
)
@pytest.mark.parametrize("name", FOLDS)
def test_folds(name: str, rows: int, threads: int, size: int, dtype, length: str, guard: str, rng):
    step, operation = FOLDS[name]
    x = rng.integers(0, 1 << 30, (rows, size)).astype(INTEGERS[dtype])
    w = rng.integers(0, 1 << 30, size).astype(INTEGERS[dtype])
    body = FOLD.replace("STEP", step).replace("LENGTH", length)
    folded = run_one(
        GUARDED.replace("GUARD", guard).replace("BODY", body),
        {"x": x, "w": w},
        {"o": ((rows,), dtype)},
        -(-rows // threads) * threads,
        threads,
        template=[("T", dtype), ("LENGTH", size)],
        init_value=1,
    )
    values = x + w
    if name == "product":
        values |= 1
    with np.errstate(over="ignore"):
        expected = operation(operation.reduce(values, 1, dtype=values.dtype), values.dtype.type(5))
    if guard == GUARDS[1]:
        expected[::5] = 1
    np.testing.assert_array_equal(folded, expected)


def reduce_rows(body: str, x: np.ndarray, **options) -> np.ndarray:
    """A thread reduces each row of x to a float."""
    return run_one(
        GUARDED.replace("GUARD", GUARDS[0]).replace("BODY", body),
        {"x": x},
        {"o": ((len(x),), mx.float32)},
        len(x),
        40,
        **options,
    )


# NaN is no extreme, and infinities are. A row of NaN alone keeps what it starts with.
@pytest.mark.parametrize(("name", "start"), [("max", "-INFINITY"), ("min", "x[row * width]")])
@pytest.mark.parametrize("length", share([128, 150, 333]))
def test_extremes(name: str, start: str, length: int, rng):
    x = rng.standard_normal((80, length)).astype(np.float32)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[3] = np.nan
    x[4, 7], x[5, 7] = np.inf, -np.inf
    body = f"float all = {start}; for (int i = 0; i < width; ++i) all = {name}(all, x[row * width + i]); o[row] = all;"
    found = reduce_rows(body, x)
    expected = (np.fmax if name == "max" else np.fmin).reduce(x, 1)
    if name == "max":
        expected[3] = -np.inf
    np.testing.assert_array_equal(found, expected)


# In fast math, the order of additions is free.
@pytest.mark.parametrize("mode", ["safe", "fast"])
@pytest.mark.parametrize("length", share([128, 150, 333]))
def test_float_sums(mode: str, length: int, rng):
    x = rng.random((80, length)).astype(np.float32)
    body = "float all = 2; for (int i = 0; i < width; ++i) all += x[row * width + i]; o[row] = all;"
    found = reduce_rows(body, x, compile_options={"math_mode": mode})
    np.testing.assert_allclose(found, x.sum(1, dtype=np.float64) + 2, rtol=1e-5)
    if mode == "safe":
        in_order = np.add.accumulate(np.insert(x, 0, 2, axis=1), axis=1, dtype=np.float32)[:, -1]
        np.testing.assert_array_equal(found, in_order)


# Iterations that need those before stay in order.
IN_ORDER = {
    "element before": "o[row * width + i + 1] = o[row * width + i] + x[row * width + i];",
    "two stores": "o[row * width + i] = x[row * width + i]; o[row * width + i + 1] = 7;",
    "one place": "o[row * width] = x[row * width + i];",
    "backwards": "o[row * width + width - 1 - i] = x[row * width + i];",
    "index in an array": "int a[4] = {1, 2, 3, 4}; a[i % 4] = i; o[row * width + i] = a[row % 4];",
}


@pytest.mark.parametrize("name", IN_ORDER)
@pytest.mark.parametrize("length", share([64, 101, 150]))
def test_order(name: str, length: int, rng):
    x = rng.integers(-100, 100, (80, length)).astype(np.int32)
    last = length - 1 if name in ("element before", "two stores") else length
    body = f"o[row * width] = 3; for (int i = 0; i < {last}; ++i) {{ {IN_ORDER[name]} }}"
    found = run_one(
        GUARDED.replace("GUARD", GUARDS[0]).replace("BODY", body.replace("width", str(length))),
        {"x": x},
        {"o": (x.shape, mx.int32)},
        80,
        40,
        init_value=0,
    )
    expected = np.zeros_like(x)
    expected[:, 0] = 3
    for i in range(last):
        if name == "element before":
            expected[:, i + 1] = expected[:, i] + x[:, i]
        elif name == "two stores":
            expected[:, i], expected[:, i + 1] = x[:, i], 7
        elif name == "one place":
            expected[:, 0] = x[:, i]
        elif name == "backwards":
            expected[:, -1 - i] = x[:, i]
        else:
            place = np.arange(80) % 4
            expected[:, i] = np.where(place == i % 4, i, place + 1)
    np.testing.assert_array_equal(found, expected)
