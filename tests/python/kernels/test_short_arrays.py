"""Short arrays of a thread whose elements are chosen by what the thread reads."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, share

TYPES = {
    "int": mx.int32,
    "float": mx.float32,
    "half": mx.float16,
    "uchar": mx.uint8,
    "long": mx.int64,
}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize("type", share(list(TYPES)))
def test_counts(type: str, size: int, rng):
    """Each thread counts the digits of its number, and rotates the counts."""
    x = rng.integers(0, 1 << 30, 301).astype(np.int32)
    got = run_one(
        """
        uint i = thread_position_in_grid.x;
        T counts[SIZE];
        for (int k = 0; k < SIZE; ++k) counts[k] = T(0);
        for (int rest = x[i]; rest != 0; rest /= SIZE + 1) {
            int digit = rest % (SIZE + 1);
            if (digit < SIZE) counts[digit] = T(counts[digit] + T(1));
        }
        for (int k = 0; k < SIZE; ++k) o[i * SIZE + k] = counts[(k + x[i] % 7) % SIZE];
        """.replace("T", type).replace("SIZE", str(size)),
        {"x": x},
        {"o": ((301, size), TYPES[type])},
        301,
        64,
    )
    expected = np.zeros((301, size))
    for row, number in zip(expected, x.tolist()):
        start, rest = number % 7, number
        while rest:
            rest, digit = divmod(rest, size + 1)
            if digit < size:
                row[digit] += 1
        row[:] = row[(np.arange(size) + start) % size]
    np.testing.assert_array_equal(got, expected)


INSERTIONS = {
    "while": """
        if (d < best[K - 1]) {
            int k = K - 1;
            while (k > 0 && d < best[k - 1]) { best[k] = best[k - 1]; where[k] = where[k - 1]; --k; }
            best[k] = d; where[k] = j;
        }""",
    "for, break": """
        for (int k = 0; k < K; ++k) {
            if (!(d < best[k])) continue;
            for (int m = K - 1; m > k; --m) { best[m] = best[m - 1]; where[m] = where[m - 1]; }
            best[k] = d; where[k] = j;
            break;
        }""",
    "place by halves": """
        int low = 0, high = K;
        while (low < high) {
            int middle = (low + high) / 2;
            if (d < best[middle]) high = middle; else low = middle + 1;
        }
        if (low < K) {
            for (int m = K - 1; m > low; --m) { best[m] = best[m - 1]; where[m] = where[m - 1]; }
            best[low] = d; where[low] = j;
        }""",
    "replaces the farthest": """
        int far = 0;
        for (int k = 1; k < K; ++k) if (best[far] < best[k]) far = k;
        if (d < best[far]) { best[far] = d; where[far] = j; }""",
}


@pytest.mark.parametrize("count", [1, 2, 4, 5, 8, 10])
@pytest.mark.parametrize("form", share(list(INSERTIONS)))
def test_nearest(form: str, count: int, rng):
    """The nearest numbers, whose distances are all different."""
    threads = 77
    own = rng.permutation(threads).astype(np.int32) * 1000
    others = rng.permutation(400).astype(np.int32)[:150] * 197 + 1
    best, where = run_kernel(
        """
        uint i = thread_position_in_grid.x;
        int best[K], where[K];
        for (int k = 0; k < K; ++k) { best[k] = 1 << 30; where[k] = -1; }
        for (int j = 0; j < 150; ++j) {
            int d = abs(x[j] - own[i]) * 2 + (x[j] < own[i]);
            INSERT
        }
        for (int k = 0; k < K; ++k) { distances[i * K + k] = best[k]; places[i * K + k] = where[k]; }
        """.replace("INSERT", INSERTIONS[form]),
        {"own": own, "x": others},
        {"distances": ((threads, count), mx.int32), "places": ((threads, count), mx.int32)},
        threads,
        32,
        template=[("K", count)],
    )
    difference = others[None] - own[:, None]
    distances = np.abs(difference) * 2 + (difference < 0)
    order = distances.argsort(1)[:, :count]
    if form == "replaces the farthest":
        order, where = np.sort(order, 1), np.sort(where, 1)
        best = np.sort(best, 1)
        np.testing.assert_array_equal(best, np.sort(distances, 1)[:, :count])
    else:
        np.testing.assert_array_equal(best, np.take_along_axis(distances, order, 1))
    np.testing.assert_array_equal(where, order)
