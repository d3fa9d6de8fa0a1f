"""Results larger than the caches, with non-temporal stores: aligned, not aligned, in loops."""

import mlx.core as mx
import numpy as np
import pytest

COUNT = (20 << 20) + 37  # bytes of the results, whatever their type: no multiple of anything


def values(count: int, dtype: str) -> np.ndarray:
    return (np.arange(count) * 2654435761 >> 7 & 127).astype(dtype)


def run(source: str, inputs: dict, count: int, dtype, grid: int, threadgroup: int) -> mx.array:
    kernel = mx.fast.metal_kernel(
        name="many", input_names=list(inputs), output_names=["out"], source=source
    )
    return kernel(
        inputs=list(inputs.values()),
        template=[("N", count)],
        grid=(grid, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[(count,)],
        output_dtypes=[dtype],
    )[0]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
@pytest.mark.parametrize("threadgroup", [256, 96])
def test_a_number_a_thread(dtype, threadgroup):
    count = COUNT // np.dtype(dtype).itemsize
    x = values(count, dtype)
    source = "uint i = thread_position_in_grid.x; out[i] = x[i] + x[i];"
    out = run(source, {"x": mx.array(x)}, count, getattr(mx, dtype), count, threadgroup)
    np.testing.assert_array_equal(np.array(out), x + x)


@pytest.mark.parametrize("start", [0, 1, 5])
def test_stores_that_do_not_start_on_a_line(start):
    count = COUNT // 4
    source = f"uint i = thread_position_in_grid.x; if (i + {start} < N) out[i + {start}] = i ^ 5;"
    out = np.array(run(source, {}, count, mx.uint32, count, 256))
    expected = np.arange(count - start, dtype=np.uint32) ^ 5
    np.testing.assert_array_equal(out[start:], expected)


def test_several_numbers_a_thread():
    count = COUNT // 16 * 4
    source = """
        uint i = thread_position_in_grid.x;
        device uint4* to = (device uint4*)out;
        to[i] = uint4(i, i + 1, i + 2, i + 3);
    """
    out = np.array(run(source, {}, count, mx.uint32, count // 4, 256)).reshape(-1, 4)
    np.testing.assert_array_equal(out, np.arange(count // 4)[:, None] + np.arange(4))


def test_rows_in_loops_between_barriers():
    rows, length = 2048, 3001
    x = values(rows * length, "int32").reshape(rows, length)
    source = """
        threadgroup int sums[8];
        uint row = threadgroup_position_in_grid.x, item = thread_position_in_threadgroup.x;
        int sum = 0;
        for (uint i = item; i < N / 2048; i += 256) sum += x[row * (N / 2048) + i];
        sum = simd_sum(sum);
        if (thread_index_in_simdgroup == 0) sums[simdgroup_index_in_threadgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (uint i = 0; i < 8; ++i) sum += sums[i];
        for (uint i = item; i < N / 2048; i += 256)
            out[row * (N / 2048) + i] = sum - x[row * (N / 2048) + i];
    """
    out = run(source, {"x": mx.array(x)}, rows * length, mx.int32, rows * 256, 256)
    expected = x.sum(axis=1, keepdims=True) - x
    np.testing.assert_array_equal(np.array(out).reshape(rows, length), expected)


def test_a_result_is_read_at_once():
    x = mx.arange(COUNT // 4, dtype=mx.int32)
    np.testing.assert_array_equal(np.array((x + 1) * 2 - x), np.arange(COUNT // 4) + 2)


ROWS = 4096


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("skipped", [0, 3])  # numbers at the start of a row
@pytest.mark.parametrize(
    ("place", "threadgroup"),
    [
        ("row * LENGTH", 64),
        ("int(row) * int(n[0])", 64),
        ("(row ^ n[1]) * LENGTH", 64),
        ("row / 32 * 32 * LENGTH + thread_index_in_simdgroup * LENGTH", 256),
    ],
)
def test_a_row_a_thread(dtype, skipped, place, threadgroup):
    length = COUNT // np.dtype(dtype).itemsize // ROWS // 128 * 128
    source = f"""
        constexpr uint LENGTH = {length};
        uint row = thread_position_in_grid.x;
        auto to = out + {place} + {skipped};
        for (uint i = {skipped}; i < LENGTH; ++i) *to++ = (row * 5 + i) % 128;
    """
    numbers = mx.array([length, 5], mx.uint32)
    out = run(source, {"n": numbers}, ROWS * length, getattr(mx, dtype), ROWS, threadgroup)
    out = np.array(out).reshape(ROWS, length)
    rows = np.arange(ROWS)
    expected = (rows[:, None] * 5 + np.arange(length)) % 128
    written = rows ^ 5 if "^" in place else rows
    np.testing.assert_array_equal(out[written, skipped:], expected[:, skipped:])
