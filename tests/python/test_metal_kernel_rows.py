"""Threads that each work on a row of their own: lanes are far apart, iterations are neighbours."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import INTEGERS, run_one

TYPES = {**INTEGERS, "float": mx.float32, "half": mx.float16}

# How a loop over the columns c of a row is written; BODY sees `x`, the element, and `at`, its index.
LOOPS = {
    "uint": "for (uint c = 0; c < width; ++c) { uint at = i * width + c; T x = in[at]; BODY }",
    "int": """
        int columns = width, row = i;
        for (int c = 0; c < columns; ++c) { int at = row * columns + c; T x = in[at]; BODY }""",
    "size_t": """
        for (size_t c = 0; c < width; ++c) { size_t at = size_t(i) * width + c; T x = in[at]; BODY }""",
    "constant width": "for (uint c = 0; c < WIDTH; ++c) { uint at = i * WIDTH + c; T x = in[at]; BODY }",
    "row pointer": """
        const device T* row = in + i * WIDTH;
        for (int c = 0; c < WIDTH; ++c) { uint at = i * WIDTH + c; T x = row[c]; BODY }""",
    "pointer moved": """
        const device T* p = in + i * width;
        for (uint c = 0; c < width; ++c, ++p) { uint at = i * width + c; T x = *p; BODY }""",
    "while": """
        uint c = 0, at = i * width;
        while (c < width) { T x = in[at]; BODY ++at; ++c; }""",
    "counting down": """
        for (int c = width - 1; c >= 0; --c) { uint at = i * width + c; T x = in[at]; BODY }""",
}
REDUCE = "sum = sum * T(3) + x;"
MAP = "out[at] = x * T(2) + T(c);"
THREADS = 75


def numbers(shape: tuple[int, ...], dtype: mx.Dtype) -> np.ndarray:
    values = np.random.default_rng(shape[-1]).integers(0, 4, shape)
    return np.array(mx.array(values).astype(dtype))


def reduce_rows(x: np.ndarray, order: range) -> np.ndarray:
    total = np.zeros(len(x), x.dtype)
    with np.errstate(all="ignore"):
        for c in order:
            total = (total * x.dtype.type(3) + x[:, c]).astype(x.dtype)
    return total


@pytest.mark.parametrize("guard", ["", "if (i % 5 == 3) return;", "if (i >= 61) return;"])
@pytest.mark.parametrize("width", [7, 61])
@pytest.mark.parametrize("loop", list(LOOPS))
def test_reductions(loop: str, width: int, guard: str) -> None:
    x = numbers((THREADS, width), mx.int32)
    order = range(width)[::-1] if loop == "counting down" else range(width)
    skipped = np.zeros(THREADS, bool)
    if guard:
        threads = np.arange(THREADS)
        skipped = threads % 5 == 3 if "%" in guard else threads >= 61
    got = run_one(
        f"uint i = thread_position_in_grid.x; uint width = in_shape[1]; {guard} T sum = 0;"
        + LOOPS[loop].replace("BODY", REDUCE)
        + "out[i] = sum;",
        {"in": mx.array(x)},
        {"out": ((THREADS,), mx.int32)},
        THREADS,
        32,
        template=[("T", mx.int32), ("WIDTH", width)],
        init_value=0,
    )
    assert np.array_equal(got, np.where(skipped, 0, reduce_rows(x, order)))


@pytest.mark.parametrize("loop", list(LOOPS))
@pytest.mark.parametrize("type_name", list(TYPES))
def test_maps(loop: str, type_name: str) -> None:
    width = 43
    dtype = TYPES[type_name]
    x = numbers((THREADS, width), dtype)
    expected = x * x.dtype.type(2) + np.arange(width).astype(x.dtype)
    got = run_one(
        "uint i = thread_position_in_grid.x; uint width = in_shape[1];"
        + LOOPS[loop].replace("BODY", MAP),
        {"in": mx.array(x)},
        {"out": ((THREADS, width), dtype)},
        THREADS,
        25,
        template=[("T", dtype), ("WIDTH", width)],
    )
    assert np.array_equal(got, expected.astype(x.dtype))


@pytest.mark.parametrize("members", [2, 3, 4])
def test_rows_of_vectors(members: int) -> None:
    x = numbers((THREADS, 19, members), mx.float32)
    element = f"packed_float{members}" if members == 3 else f"float{members}"
    got = run_one(
        f"""
        int i = thread_position_in_grid.x, width = in_shape[1];
        const device {element}* row = (const device {element}*)in + i * width;
        float{members} sum = 0;
        for (int c = 0; c < width; ++c) sum += float{members}(row[c]) * (c + 1);
        for (int k = 0; k < {members}; ++k) out[i * {members} + k] = sum[k];""",
        {"in": mx.array(x)},
        {"out": ((THREADS, members), mx.float32)},
        THREADS,
        64,
    )
    assert np.array_equal(got, (x * np.arange(1, 20)[:, None]).sum(1))


# What is only known at run time: the lanes may read the same elements, or neighbours.
@pytest.mark.parametrize("stride", [0, 1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("index", ["int", "uint", "size_t"])
def test_windows(index: str, stride: int) -> None:
    x = numbers((THREADS * 40 + 40,), mx.float32)
    got = run_one(
        f"""
        {index} i = thread_position_in_grid.x, taps = n[1];
        float sum = 0;
        for ({index} k = 0; k < taps; ++k) sum += in[i * n[0] + k] * (k + 1);
        out[i] = sum;""",
        {"in": mx.array(x), "n": mx.array([stride, 21], mx.int32)},
        {"out": ((THREADS,), mx.float32)},
        THREADS,
        64,
    )
    windows = np.stack([x[i * stride : i * stride + 21] for i in range(THREADS)])
    assert np.array_equal(got, windows @ np.arange(1, 22, dtype=np.float32))


# Rows at places that are read from memory, in any order, some of them more than once.
@pytest.mark.parametrize("width", [16, 21])
def test_chosen_rows(width: int) -> None:
    x = numbers((50, width), mx.float32)
    rows = np.random.default_rng(3).integers(0, 50, THREADS)
    got = run_one(
        """
        uint i = thread_position_in_grid.x; uint width = in_shape[1], row = rows[i];
        for (uint c = 0; c < width; ++c) out[i * width + c] = in[row * width + c] + 1;""",
        {"in": mx.array(x), "rows": mx.array(rows.astype(np.uint32))},
        {"out": ((THREADS, width), mx.float32)},
        THREADS,
        64,
    )
    assert np.array_equal(got, x[rows] + 1)


# Unsigned indices below 0 wrap around to large ones and back, where a row starts a bit before the
# buffer; only what is inside is read.
def test_indices_that_wrap_around() -> None:
    x = numbers((THREADS * 24,), mx.int32)
    got = run_one(
        """
        uint i = thread_position_in_grid.x;
        int sum = 0;
        for (uint c = 0; c < 24; ++c) {
            uint at = i * 24 + c - 5;
            int value = at < 0x7fffffffu ? in[at] : -1;
            sum = sum * 3 + value;
        }
        out[i] = sum;""",
        {"in": mx.array(x)},
        {"out": ((THREADS,), mx.int32)},
        THREADS,
        64,
    )
    padded = np.concatenate([np.full(5, -1, np.int32), x])[: THREADS * 24].reshape(THREADS, 24)
    assert np.array_equal(got, reduce_rows(padded, range(24)))


# Three places that are at most the width of the row apart, by indices that share a term.
def test_clamped_neighbours() -> None:
    x = numbers((6, 64), mx.int32)
    got = run_one(
        """
        int column = thread_position_in_grid.x, row = thread_position_in_grid.y;
        int sum = 0;
        for (int j = -1; j <= 1; ++j) sum = sum * 5 + in[row * 64 + clamp(column + j, 0, 63)];
        out[row * 64 + column] = sum;""",
        {"in": mx.array(x)},
        {"out": ((6, 64), mx.int32)},
        (64, 6, 1),
        (32, 2, 1),
    )
    near = [np.clip(np.arange(64) + j, 0, 63) for j in (-1, 0, 1)]
    assert np.array_equal(got, x[:, near[0]] * 25 + x[:, near[1]] * 5 + x[:, near[2]])


# Each element depends on the one that the iteration before has written.
@pytest.mark.parametrize("width", [8, 24, 29])
def test_rows_in_place(width: int) -> None:
    x = numbers((THREADS, width), mx.int32)
    got = run_one(
        """
        uint i = thread_position_in_grid.x, width = in_shape[1];
        device int* row = out + i * width;
        for (uint c = 0; c < width; ++c) row[c] = in[i * width + c];
        for (uint c = 1; c < width; ++c) row[c] += row[c - 1];""",
        {"in": mx.array(x)},
        {"out": ((THREADS, width), mx.int32)},
        THREADS,
        64,
    )
    assert np.array_equal(got, np.cumsum(x, 1))


# Code for grids of fewer threads assumes that positions are small.
def test_positions_in_a_large_grid() -> None:
    beyond = 1 << 27
    got = run_one(
        """
        uint i = thread_position_in_grid.x;
        if (i < (1u << 27)) return;
        for (uint k = i * 32; k < i * 32 + 4; ++k) out[k] = i;""",
        {},
        {"out": ((256,), mx.uint32)},
        beyond + 8,
        1024,
        init_value=0,
    )
    expected = np.zeros((8, 32), np.uint32)
    expected[:, :4] = beyond + np.arange(8)[:, None]
    assert np.array_equal(got, expected.reshape(-1))
