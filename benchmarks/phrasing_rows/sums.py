"""The sums of a matrix's rows, and those of its columns."""

import numpy as np

from .phrasing import Computation, Limit

# A SIMD-group a row: LOOP adds up the lane's share of the row.
SIMDGROUP = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float* from = x + row * COLUMNS;
    float sum = 0;
    LOOP
    sum = simd_sum(sum);
    if (lane == 0) o[row] = sum;
"""
LANE_LOOPS = {
    "for": "for (uint i = lane; i < COLUMNS; i += 32) sum += from[i];",
    "int, size from the shape": "for (int i = lane; i < x_shape[1]; i += 32) sum += from[i];",
    "size from a buffer, while": "uint i = lane; while (i < n[1]) { sum += from[i]; i += 32; }",
    "pointer moved": """
        const device float* end = from + COLUMNS;
        for (from += lane; from < end; from += 32) sum += *from;""",
    "float4": """
        const device float4* from4 = (const device float4*)from;
        for (uint i = lane; i < COLUMNS / 4; i += 32) {
            float4 v = from4[i];
            sum += v.x + v.y + v.z + v.w;
        }""",
    "float4 sums": """
        float4 sums = 0;
        for (uint i = lane; i < COLUMNS / 4; i += 32) sums += ((const device float4*)from)[i];
        sum = dot(sums, float4(1));""",
    "a run each": """
        for (uint i = 0; i < COLUMNS / 32; ++i) sum += from[lane * (COLUMNS / 32) + i];""",
    "runs of four": """
        for (uint i = lane * 4; i < COLUMNS; i += 128)
            for (ushort k = 0; k < 4; ++k) sum += from[i + k];""",
    "counting down": "for (int i = COLUMNS / 32 - 1; i >= 0; --i) sum += from[i * 32 + lane];",
}
SHUFFLES = """
    uint row = thread_position_in_grid.y, lane = thread_position_in_grid.x;
    float sum = 0;
    for (size_t i = lane; i < n[1]; i += 32) sum += x[row * n[1] + i];
    for (ushort distance = 16; distance > 0; distance >>= 1) sum += simd_shuffle_down(sum, distance);
    if (lane == 0) o[row] = sum;
"""

# A threadgroup of 256 a row.
GROUP = """
    threadgroup float parts[8];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    float sum = 0;
    for (uint i = item; i < COLUMNS; i += 256) sum += x[row * COLUMNS + i];
    sum = simd_sum(sum);
    if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup_index_in_threadgroup == 0) {
        sum = simd_sum(item < 8 ? parts[item] : 0);
        if (item == 0) o[row] = sum;
    }
"""
TREE = """
    threadgroup float parts[256];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    float sum = 0;
    for (uint i = item; i < COLUMNS; i += threads_per_threadgroup.x) sum += x[row * COLUMNS + i];
    parts[item] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint width = threads_per_threadgroup.x / 2; width > 0; width /= 2) {
        if (item < width) parts[item] += parts[item + width];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (item == 0) o[row] = parts[0];
"""
GROUP_RUN = """
    threadgroup float parts[256];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    const device float* from = x + row * COLUMNS + item * (COLUMNS / 256);
    float sum = 0;
    for (int i = 0; i < COLUMNS / 256; ++i) sum += *from++;
    parts[item] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (item != 0) return;
    for (int i = 1; i < 256; ++i) sum += parts[i];
    o[row] = sum;
"""
ATOMIC = """
    uint row = thread_position_in_grid.y, lane = thread_position_in_grid.x;
    float sum = 0;
    for (uint i = lane; i < COLUMNS; i += 256) sum += x[row * COLUMNS + i];
    sum = simd_sum(sum);
    if (thread_index_in_simdgroup == 0) atomic_fetch_add_explicit(&o[row], sum, memory_order_relaxed);
"""
THREAD = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    float sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) sum += x[row * COLUMNS + i];
    o[row] = sum;
"""
THREAD_VECTORS = """
    int row = thread_position_in_grid.x;
    if (row < x_shape[0]) {
        const device float4* from = (const device float4*)(x + row * x_shape[1]);
        float4 sums = 0;
        for (int i = 0; i < x_shape[1] / 4; ++i) sums += from[i];
        o[row] = sums.x + sums.y + sums.z + sums.w;
    }
"""

# A thread a column, for all rows or a part of them.
COLUMN_LOOPS = {
    "thread a column": """
        uint column = thread_position_in_grid.x;
        float sum = 0;
        for (uint row = 0; row < ROWS; ++row) sum += x[row * COLUMNS + column];
        o[column] = sum;""",
    "thread a column, bounds and sizes from the shape": """
        int column = thread_position_in_grid.x;
        if (column >= x_shape[1]) return;
        float sum = 0;
        for (int row = 0; row < x_shape[0]; ++row) sum += x[row * x_shape[1] + column];
        o[column] = sum;""",
    "thread a column, pointer moved": """
        uint column = thread_position_in_grid.x;
        if (column < n[1]) {
            const device float* p = x + column;
            float sum = 0;
            for (uint row = 0; row < n[0]; ++row, p += n[1]) sum += *p;
            o[column] = sum;
        }""",
    "thread a column, while, size_t": """
        size_t column = thread_position_in_grid.x, row = 0;
        float sum = 0;
        while (row < n[0]) {
            sum += x[row * n[1] + column];
            ++row;
        }
        o[column] = sum;""",
    "thread a column, four sums": """
        uint column = thread_position_in_grid.x;
        float sums[4] = {0, 0, 0, 0};
        for (uint row = 0; row < ROWS; row += 4)
            for (uint k = 0; k < 4; ++k) sums[k] += x[(row + k) * COLUMNS + column];
        o[column] = sums[0] + sums[1] + sums[2] + sums[3];""",
    "thread a column, counting down": """
        uint column = thread_position_in_grid.x;
        float sum = 0;
        for (int row = ROWS - 1; row >= 0; --row) sum += x[row * COLUMNS + column];
        o[column] = sum;""",
}
COLUMN_VECTORS = """
    uint column = thread_position_in_grid.x;
    float4 sums = 0;
    for (uint row = 0; row < ROWS; ++row) sums += ((const device float4*)x)[row * (COLUMNS / 4) + column];
    ((device float4*)o)[column] = sums;
"""
COLUMN_TILE = """
    threadgroup float parts[8][32];
    uint2 in = thread_position_in_threadgroup.xy;
    uint column = threadgroup_position_in_grid.x * 32 + in.x;
    float sum = 0;
    for (uint row = in.y; row < ROWS; row += 8) sum += x[row * COLUMNS + column];
    parts[in.y][in.x] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (in.y == 0) {
        for (uint i = 1; i < 8; ++i) sum += parts[i][in.x];
        o[column] = sum;
    }
"""
COLUMN_ATOMIC = """
    uint column = thread_position_in_grid.x, first = thread_position_in_grid.y * 128;
    float sum = 0;
    for (uint row = first; row < first + 128; ++row) sum += x[row * COLUMNS + column];
    atomic_fetch_add_explicit(&o[column], sum, memory_order_relaxed);
"""
COLUMN_EACH = """
    atomic_fetch_add_explicit(&o[thread_position_in_grid.x], x[thread_position_in_grid.y * COLUMNS +
                                                               thread_position_in_grid.x],
                              memory_order_relaxed);
"""
COLUMN_SIMDGROUP = """
    uint column = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    float sum = 0;
    for (uint row = lane; row < ROWS; row += 32) sum += x[row * COLUMNS + column];
    sum = simd_sum(sum);
    if (lane == 0) o[column] = sum;
"""


def computation(name: str, function: str, shape: tuple[int, int], axis: int) -> Computation:
    return Computation(
        name=name,
        inputs=lambda: {
            "x": np.random.default_rng(0).standard_normal(shape, np.float32),
            "n": np.array(shape, np.uint32),
        },
        outputs={"o": ((shape[1 - axis],), "float32")},
        reference=lambda arrays: {"o": arrays["x"].astype(np.float64).sum(axis)},
        rtol=1e-4,
        atol=1e-3,
        limit=Limit("reductions", function, ["x"], shape),
    )


def rows(size: str) -> list[Computation]:
    shape = height, columns = (128, 1024) if size == "small" else (2048, 4096)
    shared = {"inputs": ("x", "n"), "template": {"ROWS": height, "COLUMNS": columns}}
    added = {"init_value": 0, "atomic_outputs": True, **shared}

    of_rows = computation("row sums", "row_sums", shape, 1)
    for name, loop in LANE_LOOPS.items():
        source = SIMDGROUP.replace("LOOP", loop)
        of_rows.add(f"SIMD-group a row, {name}", source, (height * 32,), (256,), **shared)
    of_rows.add("SIMD-group a row, shuffles, 2-D", SHUFFLES, (32, height), (32, 8), **shared)
    of_rows.add("256 a row, simd_sum", GROUP, (height * 256,), (256,), **shared)
    of_rows.add("256 a row, tree", TREE, (height * 256,), (256,), **shared)
    of_rows.add("256 a row, a run each", GROUP_RUN, (height * 256,), (256,), **shared)
    of_rows.add("256 a row, atomics", ATOMIC, (256, height), (256,), **added)
    of_rows.add("thread a row", THREAD, (height,), (64,), **shared)
    of_rows.add("thread a row, float4", THREAD_VECTORS, (height,), (64,))

    of_columns = computation("column sums", "column_sums", shape, 0)
    for name, source in COLUMN_LOOPS.items():
        of_columns.add(name, source, (columns,), (256,), **shared)
    of_columns.add("float4 of columns a thread", COLUMN_VECTORS, (columns // 4,), (64,), **shared)
    of_columns.add("32x8 threads, tile", COLUMN_TILE, (columns, 8), (32, 8), **shared)
    parts = (columns, height // 128)
    of_columns.add("128 rows a thread, atomics", COLUMN_ATOMIC, parts, (256,), **added)
    apart = {"same_traffic": False}
    of_columns.add("element a thread, atomics", COLUMN_EACH, shape[::-1], (256,), **apart, **added)
    each = (columns * 32,)
    of_columns.add("SIMD-group a column", COLUMN_SIMDGROUP, each, (256,), **apart, **shared)
    return [of_rows, of_columns]
