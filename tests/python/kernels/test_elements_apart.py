"""Every thread writes a few elements that are as far apart as its threadgroup has threads."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, share

# (name, statements, elements a thread); P is the type of a position.
BODIES = [
    (
        "four",
        "for (uint k = 0; k < 4; ++k) { P at = first + k * THREADS; o[at] = x[at] * 3 + T(k); }",
        4,
    ),
    (
        "four with bounds",
        """
        for (uint k = 0; k < 4; ++k) {
            P at = first + k * THREADS;
            if (at < size[0]) o[at] = x[at] * 3 + T(k);
        }""",
        4,
    ),
    (
        "returns at the end",
        """
        for (uint k = 0; k < 4; ++k) {
            P at = first + k * THREADS;
            if (at >= size[0]) return;
            o[at] = x[at] * 3 + T(k);
        }""",
        4,
    ),
    (
        "read first",
        """
        T values[4];
        for (uint k = 0; k < 4; ++k) values[k] = x[first + k * THREADS] * 3;
        for (uint k = 0; k < 4; ++k) o[first + k * THREADS] = values[k] + T(k);""",
        4,
    ),
    (
        "last first",
        """
        o[first + THREADS] = x[first + THREADS] * 3 + 1;
        o[first] = x[first] * 3;""",
        2,
    ),
    (
        "written twice",
        """
        for (uint k = 0; k < 2; ++k) {
            P at = first + k * THREADS;
            o[at] = x[at];
            if (x[at] < 50) o[at] = x[at] * 3 + T(k); else o[at] = x[at] * 3 + T(k);
        }""",
        2,
    ),
    (
        "condition of another element",
        """
        T a = x[first], b = x[first + THREADS];
        if (b < 50) o[first] = a * 3; else o[first] = a + a + a;
        if (a < 50) o[first + THREADS] = b * 3 + 1; else o[first + THREADS] = b + b + b + 1;""",
        2,
    ),
]
SIZES = [
    (64, 5, mx.int32),
    (256, 40, mx.float32),
    (128, 33, mx.int64),
    (512, 9, mx.float16),
    (160, 7, mx.int32),
]


@pytest.mark.parametrize("position", ["uint", "int", "size_t"])
@pytest.mark.parametrize(("threads", "groups", "dtype"), share(SIZES))
@pytest.mark.parametrize(("name", "body", "each"), BODIES, ids=[name for name, _, _ in BODIES])
def test_elements_apart(
    name: str, body: str, each: int, threads: int, groups: int, dtype: mx.Dtype, position: str
) -> None:
    whole = threads * groups * each
    size = whole - threads - 13 if name in ("four with bounds", "returns at the end") else whole
    x = np.random.default_rng(0).integers(0, 100, whole).astype(np.float32)
    got = run_one(
        "P first = threadgroup_position_in_grid.x * (THREADS * EACH)"
        " + thread_position_in_threadgroup.x;" + body,
        {"x": mx.array(x).astype(dtype), "size": np.array([size], np.uint32)},
        {"o": ((whole,), dtype)},
        threads * groups,
        threads,
        header=f"typedef {position} P;\nconstant constexpr uint THREADS = {threads}, EACH = {each};",
        template={"T": dtype},
        init_value=0,
    )
    expected = x * 3 + np.arange(whole) // threads % each
    expected[size:] = 0
    assert np.array_equal(got.astype(np.float64), expected)


def test_more_results_than_the_caches_hold() -> None:
    count = 1 << 23
    x = np.random.default_rng(0).standard_normal(count, np.float32)
    got = run_one(
        """
        uint first = threadgroup_position_in_grid.x * 1024 + thread_position_in_threadgroup.x;
        for (uint k = 0; k < 4; ++k) o[first + k * 256] = x[first + k * 256] * 2;""",
        {"x": x},
        {"o": ((count,), mx.float32)},
        count // 4,
        256,
    )
    assert np.array_equal(got, 2 * x)


def test_two_buffers_and_neighbours() -> None:
    """Vectors and neighbours stay together; two buffers are not distributed."""
    x = np.arange(4096, dtype=np.int32)
    pairs, sums = run_kernel(
        """
        uint first = threadgroup_position_in_grid.x * 512 + thread_position_in_threadgroup.x;
        for (uint k = 0; k < 2; ++k) {
            uint at = first + k * 256;
            ((device int2*)pairs)[at] = int2(x[at], -x[at]);
            sums[at] = x[at] + x[first];
        }""",
        {"x": x},
        {"pairs": ((4096, 2), mx.int32), "sums": ((4096,), mx.int32)},
        2048,
        256,
    )
    assert np.array_equal(pairs, np.stack([x, -x], 1))
    assert np.array_equal(sums, x + x // 512 * 512 + x % 256)
