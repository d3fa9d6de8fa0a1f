"""o = A x for a sparse matrix in rows of different lengths, 36 elements in the mean."""

import numpy as np

from .phrasing import Computation, Limit

# Threads for a row, and the source.
SOURCES = {
    "thread a row, int": (
        1,
        """
        int r = thread_position_in_grid.x;
        float sum = 0;
        for (int j = starts[r]; j < starts[r + 1]; j++) sum += a[j] * x[columns[j]];
        o[r] = sum;""",
    ),
    "thread a row, uint, bounds": (
        1,
        """
        uint r = thread_position_in_grid.x;
        if (r >= N) return;
        uint first = starts[r], end = starts[r + 1];
        float sum = 0.0f;
        for (uint j = first; j < end; ++j) sum += a[j] * x[columns[j]];
        o[r] = sum;""",
    ),
    "thread a row, length": (
        1,
        """
        uint r = thread_position_in_grid.x;
        size_t first = starts[r];
        ushort length = starts[r + 1] - starts[r];
        float sum = 0.0f;
        for (ushort k = 0; k < length; ++k) sum = fma(a[first + k], x[columns[first + k]], sum);
        o[r] = sum;""",
    ),
    "thread a row, pointers moved": (
        1,
        """
        uint r = thread_position_in_grid.x;
        const device float* value = a + starts[r];
        const device float* end = a + starts[r + 1];
        const device int* column = columns + starts[r];
        float sum = 0.0f;
        while (value < end) sum += *value++ * x[*column++];
        o[r] = sum;""",
    ),
    "thread a row, do while": (
        1,
        """
        uint r = thread_position_in_grid.x;
        int j = starts[r], end = starts[r + 1];
        float sum = 0.0f;
        if (j < end) do { sum += a[j] * x[columns[j]]; } while (++j < end);
        o[r] = sum;""",
    ),
    "thread a row, branch": (
        1,
        """
        uint r = thread_position_in_grid.x;
        float sum = 0.0f;
        for (int j = starts[r]; j < starts[r + 1]; ++j) {
            if (a[j] != 0) sum += a[j] * x[columns[j]];
        }
        o[r] = sum;""",
    ),
    "SIMD-group a row": (
        32,
        """
        uint r = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
        float sum = 0.0f;
        for (int j = starts[r] + lane; j < starts[r + 1]; j += 32) sum += a[j] * x[columns[j]];
        sum = simd_sum(sum);
        if (lane == 0) o[r] = sum;""",
    ),
    "eight lanes a row": (
        8,
        """
        uint r = thread_position_in_grid.x / 8, lane = thread_position_in_grid.x % 8;
        float sum = 0.0f;
        for (int j = starts[r] + lane; j < starts[r + 1]; j += 8) sum += a[j] * x[columns[j]];
        for (ushort k = 4; k > 0; k /= 2) sum += simd_shuffle_xor(sum, k);
        if (lane == 0) o[r] = sum;""",
    ),
}
MEAN = 36


def rows(size: str) -> list[Computation]:
    count = 1 << 10 if size == "small" else 1 << 16

    def inputs() -> dict:
        random = np.random.default_rng(0)
        starts = np.concatenate([[0], np.cumsum(random.integers(0, 2 * MEAN + 1, count))])
        return {
            "starts": starts.astype(np.int32),
            "columns": random.integers(0, count, starts[-1], dtype=np.int32),
            "a": random.standard_normal(starts[-1], np.float32),
            "x": random.standard_normal(count, np.float32),
        }

    def reference(arrays: dict) -> dict:
        products = arrays["a"].astype(np.float64) * arrays["x"][arrays["columns"]]
        sums = np.concatenate([[0], np.cumsum(products)])
        return {"o": np.diff(sums[arrays["starts"]])}

    made = Computation(
        name="sparse product",
        inputs=inputs,
        outputs={"o": ((count,), "float32")},
        reference=reference,
        limit=Limit("products", "sparse_product", ["starts", "columns", "a", "x"], [count]),
    )
    shared = {"inputs": ("starts", "columns", "a", "x"), "template": {"N": count}}
    for name, (lanes, source) in SOURCES.items():
        made.add(name, source, (count * lanes,), (256,), **shared)
    return [made]
