"""o = A x, of floats."""

import numpy as np

from .phrasing import Computation, Limit

PREFIX = """
    uint r = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float* row = a + r * COLUMNS;
"""
SUFFIX = """
    sum = simd_sum(sum);
    if (lane == 0) o[r] = sum;"""

# What a lane of a SIMD-group adds up of its row.
SUMS = {
    "SIMD-group a row": """
        float sum = 0;
        for (uint j = lane; j < COLUMNS; j += 32) sum += row[j] * x[j];""",
    "SIMD-group a row, runs of four": """
        float sum = 0;
        for (uint j = lane * 4; j < COLUMNS; j += 128)
            for (uint i = 0; i < 4; ++i) sum += row[j + i] * x[j + i];""",
    "SIMD-group a row, runs of eight": """
        float sum = 0;
        for (uint j = lane * 8; j < COLUMNS; j += 256)
            for (uint i = 0; i < 8; ++i) sum += row[j + i] * x[j + i];""",
    "SIMD-group a row, runs of eight, held": """
        float sum = 0;
        for (uint j = lane * 8; j < COLUMNS; j += 256) {
            float factors[8];
            for (uint i = 0; i < 8; ++i) factors[i] = x[j + i];
            for (uint i = 0; i < 8; ++i) sum = fma(row[j + i], factors[i], sum);
        }""",
    "SIMD-group a row, runs of sixteen": """
        float sum = 0;
        for (uint j = lane * 16; j < COLUMNS; j += 512)
            for (uint i = 0; i < 16; ++i) sum += row[j + i] * x[j + i];""",
    "SIMD-group a row, float4, dot": """
        const device float4* rows = (const device float4*)row;
        const device float4* factors = (const device float4*)x;
        float sum = 0;
        for (uint j = lane; j < COLUMNS / 4; j += 32) sum += dot(rows[j], factors[j]);""",
    "SIMD-group a row, float4 sums": """
        const device float4* rows = (const device float4*)row;
        const device float4* factors = (const device float4*)x;
        float4 sums = 0;
        for (uint j = lane; j < COLUMNS / 4; j += 32) sums += rows[j] * factors[j];
        float sum = sums.x + sums.y + sums.z + sums.w;""",
}
FOUR_ROWS = """
    uint r = thread_position_in_grid.x / 32 * 4, lane = thread_index_in_simdgroup;
    const device float4* factors = (const device float4*)x;
    float sums[4] = {0, 0, 0, 0};
    for (uint j = lane; j < COLUMNS / 4; j += 32) {
        float4 factor = factors[j];
        for (uint k = 0; k < 4; ++k)
            sums[k] += dot(((const device float4*)(a + (r + k) * COLUMNS))[j], factor);
    }
    for (uint k = 0; k < 4; ++k) {
        float sum = simd_sum(sums[k]);
        if (lane == 0) o[r + k] = sum;
    }"""
THREAD_A_ROW = """
    uint r = thread_position_in_grid.x;
    const device float4* rows = (const device float4*)(a + r * COLUMNS);
    const device float4* factors = (const device float4*)x;
    float sum = 0;
    for (uint j = 0; j < COLUMNS / 4; ++j) sum += dot(rows[j], factors[j]);
    o[r] = sum;"""


def rows(size: str) -> list[Computation]:
    count, columns = (64, 1024) if size == "small" else (8192, 2048)

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "a": random.standard_normal((count, columns), np.float32),
            "x": random.standard_normal(columns, np.float32),
        }

    made = Computation(
        name="matrix-vector product",
        inputs=inputs,
        outputs={"o": ((count,), "float32")},
        reference=lambda arrays: {"o": arrays["a"].astype(np.float64) @ arrays["x"]},
        limit=Limit("products", "matrix_vector", ["a", "x"], [count, columns]),
        rtol=1e-4,
        atol=1e-4,
    )
    shared = {"inputs": ("a", "x"), "template": {"COLUMNS": columns}}
    for name, source in SUMS.items():
        made.add(name, PREFIX + source + SUFFIX, (count * 32,), (256,), **shared)
    made.add("SIMD-group four rows, float4, dot", FOUR_ROWS, (count * 8,), (256,), **shared)
    made.add("thread a row, float4, dot", THREAD_A_ROW, (count,), (64,), **shared)
    return [made]
