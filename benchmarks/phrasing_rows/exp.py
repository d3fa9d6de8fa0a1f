"""exp(x) * 2 + 1 of each element."""

import numpy as np

from .phrasing import Computation, Limit

COLUMNS = 2048

# Each computes o[i], with i and its bounds written differently.
INDICES = {
    "one thread an element": "uint i = thread_position_in_grid.x; {}",
    "int, return beyond a constant": "int i = thread_position_in_grid.x; if (i >= N) return; {}",
    "uint, size from the shape": "uint i = thread_position_in_grid.x; if (i < x_shape[0]) {{ {} }}",
    "int, size from the shape": "int i = thread_position_in_grid.x; if (i >= x_shape[0]) return; {}",
    "size_t, size from a buffer": "size_t i = thread_position_in_grid.x; if (i < n[0]) {{ {} }}",
    "uint, size from a buffer": "uint i = thread_position_in_grid.x; if (i >= n[0]) return; {}",
    "position from the threadgroup": """
        uint i = threadgroup_position_in_grid.x * threads_per_threadgroup.x +
                 thread_position_in_threadgroup.x;
        if (i < N) {{ {} }}""",
    "index taken apart": """
        uint at = thread_position_in_grid.x;
        uint row = at / COLUMNS, column = at % COLUMNS, i = row * COLUMNS + column;
        {}""",
    "index taken apart by the shape": """
        int at = thread_position_in_grid.x;
        int width = n[1], row = at / width, column = at % width, i = row * width + column;
        {}""",
}
GRIDS = {
    "2-D grid": (
        "uint2 at = thread_position_in_grid.xy; uint i = at.y * COLUMNS + at.x; {}",
        (32, 8),
    ),
    "2-D grid, threads_per_grid": (
        "uint i = thread_position_in_grid.y * threads_per_grid.x + thread_position_in_grid.x; {}",
        (16, 16),
    ),
    "2-D grid, int, bounds": (
        """
        int column = thread_position_in_grid.x, row = thread_position_in_grid.y;
        if (column >= COLUMNS || row >= N / COLUMNS) return;
        int i = row * COLUMNS + column;
        {}""",
        (64, 4),
    ),
    "3-D grid": (
        """
        uint3 at = thread_position_in_grid;
        uint i = (at.z * threads_per_grid.y + at.y) * threads_per_grid.x + at.x;
        {}""",
        (8, 8, 4),
    ),
}
# Each thread computes several elements.
SEVERAL = {
    "float2": (2, "((device float2*)o)[i] = exp(((const device float2*)x)[i]) * 2.0f + 1.0f;"),
    "float4": (4, "((device float4*)o)[i] = exp(((const device float4*)x)[i]) * 2.0f + 1.0f;"),
    "run of four": (4, "for (uint k = i * 4; k < i * 4 + 4; ++k) o[k] = exp(x[k]) * 2.0f + 1.0f;"),
    "run of eight, pointers moved": (
        8,
        """
        const device float* from = x + i * 8;
        device float* to = o + i * 8;
        for (int k = 0; k < 8; ++k) *to++ = exp(*from++) * 2.0f + 1.0f;""",
    ),
    "run of eight, local copies": (
        8,
        """
        float values[8];
        for (ushort k = 0; k < 8; ++k) values[k] = x[i * 8 + k];
        for (ushort k = 0; k < 8; ++k) values[k] = exp(values[k]) * 2.0f + 1.0f;
        for (ushort k = 0; k < 8; ++k) o[i * 8 + k] = values[k];""",
    ),
    "run of eight, bounds": (
        8,
        """
        for (uint k = 0; k < 8; ++k) {
            uint at = i * 8 + k;
            if (at < n[0]) o[at] = exp(x[at]) * 2.0f + 1.0f;
        }""",
    ),
    "run of eight, to the nearer end": (
        8,
        """
        uint end = min(i * 8 + 8, uint(n[0]));
        for (uint k = i * 8; k < end; ++k) o[k] = exp(x[k]) * 2.0f + 1.0f;""",
    ),
    "run of four, counting down": (
        4,
        "for (int k = 3; k >= 0; --k) o[i * 4 + k] = exp(x[i * 4 + k]) * 2.0f + 1.0f;",
    ),
    "four apart by the threadgroup": (
        4,
        """
        uint first = threadgroup_position_in_grid.x * 1024 + thread_position_in_threadgroup.x;
        for (uint k = 0; k < 4; ++k)
            o[first + k * 256] = exp(x[first + k * 256]) * 2.0f + 1.0f;""",
    ),
    "grid stride": (
        128,
        "for (uint k = i; k < N; k += threads_per_grid.x) o[k] = exp(x[k]) * 2.0f + 1.0f;",
    ),
    "grid stride, size from the shape": (
        128,
        """
        for (int k = i; k < x_shape[0]; k += threads_per_grid.x) o[k] = exp(x[k]) * 2.0f + 1.0f;""",
    ),
    "grid stride of a constant": (
        128,
        "for (uint k = i; k < N; k += N / 128) o[k] = exp(x[k]) * 2.0f + 1.0f;",
    ),
    "grid stride from the threadgroups": (
        128,
        """
        uint step = threadgroups_per_grid.x * threads_per_threadgroup.x;
        for (uint k = threadgroup_position_in_grid.x * threads_per_threadgroup.x +
                      thread_position_in_threadgroup.x;
             k < N; k += step)
            o[k] = exp(x[k]) * 2.0f + 1.0f;""",
    ),
    "grid stride, size_t, do while": (
        128,
        """
        size_t k = i;
        do {
            o[k] = exp(x[k]) * 2.0f + 1.0f;
            k += threads_per_grid.x;
        } while (k < n[0]);""",
    ),
    "grid stride, while, pointers moved": (
        128,
        """
        const device float* from = x + i;
        device float* to = o + i;
        const device float* end = x + n[0];
        while (from < end) {
            *to = exp(*from) * 2.0f + 1.0f;
            from += threads_per_grid.x;
            to += threads_per_grid.x;
        }""",
    ),
    "grid stride, float4": (
        128,
        """
        const device float4* from = (const device float4*)x;
        device float4* to = (device float4*)o;
        for (uint k = i; k < N / 4; k += threads_per_grid.x) to[k] = exp(from[k]) * 2.0f + 1.0f;""",
    ),
}


def rows(size: str) -> list[Computation]:
    count = 1 << (16 if size == "small" else 23)
    made = Computation(
        name="exp",
        inputs=lambda: {
            "x": np.random.default_rng(0).standard_normal(count, np.float32),
            "n": np.array([count, COLUMNS], np.uint32),
        },
        outputs={"o": ((count,), "float32")},
        reference=lambda arrays: {"o": np.exp(arrays["x"].astype(np.float64)) * 2 + 1},
        limit=Limit("elementwise", "exponentials", ["x"], [count]),
    )
    template = {"N": count, "COLUMNS": COLUMNS}
    element = "o[i] = exp(x[i]) * 2.0f + 1.0f;"
    shared = {"inputs": ("x", "n"), "template": template}
    for name, source in INDICES.items():
        made.add(name, source.format(element), (count,), (256,), **shared)
    beyond = "uint i = thread_position_in_grid.x; if (i >= n[0]) return;" + element
    made.add("grid rounded up", beyond, (count + 1000,), (256,), **shared)
    for name, (source, group) in GRIDS.items():
        rows = count // COLUMNS
        grid = (COLUMNS, rows) if len(group) == 2 else (COLUMNS // 8, 8, rows)
        made.add(name, source.format(element), grid, group, **shared)
    for name, (each, source) in SEVERAL.items():
        source = "uint i = thread_position_in_grid.x;" + source
        made.add(name, source, (count // each,), (256,), **shared)
    return [made]
