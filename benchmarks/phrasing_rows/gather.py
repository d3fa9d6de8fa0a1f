"""o[i] = x[index[i]]: a table of 4 MB, at random."""

import numpy as np

from .phrasing import Computation, Limit

SOURCES = {
    "one thread an element": (1, "uint i = thread_position_in_grid.x; o[i] = x[index[i]];"),
    "int, return beyond a constant": (
        1,
        """
        int i = thread_position_in_grid.x;
        if (i >= N) return;
        int from = index[i];
        o[i] = x[from];""",
    ),
    "size_t, size from a buffer": (
        1,
        "size_t i = thread_position_in_grid.x; if (i < n[0]) { size_t from = index[i]; o[i] = x[from]; }",
    ),
    "index checked": (
        1,
        """
        uint i = thread_position_in_grid.x;
        if (i >= uint(index_shape[0])) return;
        uint from = index[i];
        o[i] = from < uint(x_shape[0]) ? x[from] : 0.0f;""",
    ),
    "index taken apart": (
        1,
        """
        uint at = thread_position_in_grid.x, row = at / 2048, column = at % 2048;
        o[row * 2048 + column] = x[index[row * 2048 + column]];""",
    ),
    "uint4": (
        4,
        """
        uint i = thread_position_in_grid.x;
        uint4 from = ((const device uint4*)index)[i];
        ((device float4*)o)[i] = float4(x[from.x], x[from.y], x[from.z], x[from.w]);""",
    ),
    "uint2": (
        2,
        """
        uint i = thread_position_in_grid.x;
        uint2 from = ((const device uint2*)index)[i];
        ((device float2*)o)[i] = float2(x[from.x], x[from.y]);""",
    ),
    "run of four": (
        4,
        """
        uint first = thread_position_in_grid.x * 4;
        for (uint i = first; i < first + 4; ++i) o[i] = x[index[i]];""",
    ),
    "run of eight, pointers moved": (
        8,
        """
        const device uint* from = index + thread_position_in_grid.x * 8;
        device float* to = o + thread_position_in_grid.x * 8;
        for (int k = 8; k > 0; --k) *to++ = x[*from++];""",
    ),
    "run of eight, local copies": (
        8,
        """
        uint first = thread_position_in_grid.x * 8;
        uint from[8];
        float values[8];
        for (ushort k = 0; k < 8; ++k) from[k] = index[first + k];
        for (ushort k = 0; k < 8; ++k) values[k] = x[from[k]];
        for (ushort k = 0; k < 8; ++k) o[first + k] = values[k];""",
    ),
    "grid stride": (
        128,
        """
        for (uint i = thread_position_in_grid.x; i < N; i += threads_per_grid.x) o[i] = x[index[i]];""",
    ),
    "grid stride of a constant": (
        128,
        "for (uint i = thread_position_in_grid.x; i < N; i += N / 128) o[i] = x[index[i]];",
    ),
    "grid stride, int, size from the shape": (
        128,
        """
        for (int i = thread_position_in_grid.x; i < index_shape[0]; i += threads_per_grid.x)
            o[i] = x[index[i]];""",
    ),
    "grid stride, while": (
        128,
        """
        uint i = thread_position_in_grid.x;
        while (i < n[0]) {
            o[i] = x[index[i]];
            i += threads_per_grid.x;
        }""",
    ),
}
TWO_DIMENSIONS = """
    uint i = thread_position_in_grid.y * threads_per_grid.x + thread_position_in_grid.x;
    o[i] = x[index[i]];
"""
THREE_DIMENSIONS = """
    uint3 at = thread_position_in_grid, size = threads_per_grid;
    uint i = (at.z * size.y + at.y) * size.x + at.x;
    o[i] = x[index[i]];
"""


def rows(size: str) -> list[Computation]:
    count, table = (1 << 16, 1 << 12) if size == "small" else (1 << 23, 1 << 20)

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal(table, np.float32),
            "index": random.integers(0, table, count, dtype=np.uint32),
            "n": np.array([count], np.uint32),
        }

    made = Computation(
        name="gather",
        inputs=inputs,
        outputs={"o": ((count,), "float32")},
        reference=lambda arrays: {"o": arrays["x"].astype(np.float64)[arrays["index"]]},
        limit=Limit("elementwise", "gather", ["x", "index"], [count]),
    )
    shared = {"inputs": ("x", "index", "n"), "template": {"N": count}}
    for name, (each, source) in SOURCES.items():
        made.add(name, source, (count // each,), (256,), **shared)
    made.add("2-D grid", TWO_DIMENSIONS, (2048, count // 2048), (32, 8), **shared)
    made.add("3-D grid", THREE_DIMENSIONS, (256, 8, count // 2048), (64, 2, 2), **shared)
    return [made]
