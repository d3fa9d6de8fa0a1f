"""Threads that share a row, whose length is only known at run time: lanes leave loops at its end."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

GROUP = 64
WHERE = """
    uint lane = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    int count = n[row % 4], total = 0;
    const device int* from = x + row * 1000;
"""
# Each adds up its lane's elements of the row.
LOOPS = {
    "for": "for (uint i = lane; i < uint(count); i += 64) total += from[i];",
    "signed": "for (int i = lane; i < count; i += 64) total += from[i];",
    "up to": "for (int i = lane; i <= count - 1; i += 64) total += from[i];",
    "while": "int i = lane; while (i < count) { total += from[i]; i += 64; }",
    "size_t": "for (size_t i = lane; i < size_t(count); i += 64) total += from[i];",
    "ushort": "for (ushort i = lane; i < ushort(count); i += 64) total += from[i];",
    "pointers": "for (const device int* p = from + lane; p < from + count; p += 64) total += *p;",
    "backwards": "for (int i = count - 1 - int(lane); i >= 0; i -= 64) total += from[i];",
    "step of the size": "for (uint i = lane; i < uint(count); i += threads_per_threadgroup.x) total += from[i];",
    "pairs": """
        for (uint i = lane * 2; i < uint(count); i += 128) {
            total += from[i];
            if (i + 1 < uint(count)) total += from[i + 1];
        }""",
    "break": "for (uint i = lane;; i += 64) { if (i >= uint(count)) break; total += from[i]; }",
    "at least once": """
        uint i = lane;
        do { if (i < uint(count)) total += from[i]; i += 64; } while (i < uint(count));""",
    "behind a guard": """
        if (from[0] % 2 == 0 || lane % 3 != 1) {
            for (uint i = lane; i < uint(count); i += 64) total += from[i];
        } else {
            for (uint i = lane; i < uint(count); i += 64) total += from[i] ^ 0;
        }""",
    "in some of the lanes": """
        if (lane < 40) for (uint i = lane; i < uint(count); i += 64) total += from[i];
        if (lane >= 40 && lane != 50) for (uint i = lane; i < uint(count); i += 64) total += from[i];
        if (lane == 50) for (uint i = lane; i < uint(count); i += 64) total += from[i];""",
    "skipping": """
        for (uint i = lane; i < uint(count); i += 64) {
            if (from[i] % 2 != 0) { total += from[i]; continue; }
            total += from[i] / 2 * 2;
        }""",
    "a loop inside": """
        for (uint i = lane; i < uint(count); i += 64)
            for (int k = 0; k < count; k += count) total += from[i];""",
    "an array of its own": """
        int kept[4] = {0, 0, 0, 0};
        for (uint i = lane; i < uint(count); i += 64) kept[i / 64 % 4] += from[i];
        total = kept[0] + kept[1] + kept[2] + kept[3];""",
    "the last values": """
        int last = 0, steps = 0;
        for (uint i = lane; i < uint(count); i += 64) { last = from[i]; total += last; ++steps; }
        total = total - last + (steps > 0 ? from[lane + (steps - 1) * 64] : 0);""",
}
COUNTS = [[1, 2, 31, 32], [33, 63, 64, 65], [95, 96, 97, 128], [500, 512, 999, 1000]]
WAITS = {
    "apart": "o[thread_position_in_grid.x] = total;",
    "together": """
        threadgroup int totals[64];
        totals[63 - lane] = total;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        o[thread_position_in_grid.x] = totals[63 - lane];""",
    "SIMD-groups": "o[thread_position_in_grid.x] = simd_sum(0) + total;",
}


# Which elements of a row are a lane's.
LANES = {
    "backwards": lambda i, count: (count - 1 - i) % GROUP,
    "pairs": lambda i, count: i // 2 % GROUP,
}


def expected(form: str, x: np.ndarray, counts: list[int]) -> np.ndarray:
    totals = np.zeros((len(x), GROUP), np.int32)
    for row, values in enumerate(x):
        count = counts[row % 4]
        i = np.arange(count)
        lanes = LANES.get(form, lambda i, count: i % GROUP)(i, count)
        np.add.at(totals[row], lanes, values[:count])
    return totals.ravel()


@pytest.mark.parametrize("end", list(WAITS))
@pytest.mark.parametrize("form", share(list(LOOPS)))
def test_elements_of_each_lane(form: str, end: str, rng):
    x = rng.integers(-1000, 1000, (8, 1000)).astype(np.int32)
    for counts in COUNTS:
        got = run_one(
            WHERE + LOOPS[form] + WAITS[end],
            {"x": x, "n": np.array(counts, np.int32)},
            {"o": ((8 * GROUP,), mx.int32)},
            8 * GROUP,
            GROUP,
        )
        np.testing.assert_array_equal(got, expected(form, x, counts))


@pytest.mark.parametrize("count", [0, 1, 31, 33, 64, 100, 1000])
def test_what_is_behind_the_end_stays(count: int, rng):
    """The loop stores; some lanes never enter it."""
    x = rng.integers(-1000, 1000, 1000).astype(np.int32)
    got = run_one(
        "for (uint i = thread_position_in_threadgroup.x; i < n[0]; i += 64) o[i] = x[i] * 3;",
        {"x": x, "n": np.array([count], np.uint32)},
        {"o": ((1000,), mx.int32)},
        GROUP,
        GROUP,
        init_value=-5,
    )
    np.testing.assert_array_equal(got[:count], x[:count] * 3)
    np.testing.assert_array_equal(got[count:], -5)
