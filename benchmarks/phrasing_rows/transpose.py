"""The transpose of a square matrix."""

import numpy as np

from .phrasing import Computation, Limit

# A tile as large as the threadgroup.
TILE = """
    threadgroup float tile[TILE][TILE + PAD];
    uint2 in = thread_position_in_threadgroup.xy, group = threadgroup_position_in_grid.xy;
    tile[in.y][in.x] = x[(group.y * TILE + in.y) * N + group.x * TILE + in.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    o[(group.x * TILE + in.y) * N + group.y * TILE + in.x] = tile[in.x][in.y];
"""
# Threadgroups of 32x8: each thread moves four elements.
FOUR_ROWS = """
    threadgroup float tile[32][32 + PAD];
    uint2 in = thread_position_in_threadgroup.xy, group = threadgroup_position_in_grid.xy;
    for (uint i = 0; i < 32; i += 8)
        tile[in.y + i][in.x] = x[(group.y * 32 + in.y + i) * N + group.x * 32 + in.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 32; i += 8)
        o[(group.x * 32 + in.y + i) * N + group.y * 32 + in.x] = tile[in.x][in.y + i];
"""
BOUNDS = """
    threadgroup float tile[32][33];
    int in_x = thread_position_in_threadgroup.x, in_y = thread_position_in_threadgroup.y;
    int left = threadgroup_position_in_grid.x * 32, top = threadgroup_position_in_grid.y * 32;
    int height = x_shape[0], width = x_shape[1];
    for (int i = in_y; i < 32; i += 8)
        if (top + i < height && left + in_x < width)
            tile[i][in_x] = x[(top + i) * width + left + in_x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = in_y; i < 32; i += 8)
        if (left + i < width && top + in_x < height)
            o[(left + i) * height + top + in_x] = tile[in_x][i];
"""
POINTERS = """
    threadgroup float tile[32 * 33];
    uint column = thread_position_in_threadgroup.x, row = thread_position_in_threadgroup.y;
    const device float* from = x + (threadgroup_position_in_grid.y * 32 + row) * n[0] +
                               threadgroup_position_in_grid.x * 32 + column;
    for (uint i = row; i < 32; i += 8) {
        tile[i * 33 + column] = *from;
        from += 8 * n[0];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device float* to = o + (threadgroup_position_in_grid.x * 32 + row) * n[0] +
                       threadgroup_position_in_grid.y * 32 + column;
    for (uint i = row; i < 32; i += 8) {
        *to = tile[column * 33 + i];
        to += 8 * n[0];
    }
"""
# A threadgroup of one dimension, whose index is taken apart.
ONE_DIMENSION = """
    threadgroup float tile[32][33];
    uint item = thread_index_in_threadgroup, group = threadgroup_position_in_grid.x;
    uint top = group / (N / 32) * 32, left = group % (N / 32) * 32;
    for (uint i = item; i < 1024; i += 256) tile[i / 32][i % 32] = x[(top + i / 32) * N + left + i % 32];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = item; i < 1024; i += 256) o[(left + i / 32) * N + top + i % 32] = tile[i % 32][i / 32];
"""
VECTORS = """
    threadgroup float tile[32][36];
    uint2 in = thread_position_in_threadgroup.xy, group = threadgroup_position_in_grid.xy;
    *(threadgroup float4*)&tile[in.y][in.x * 4] =
        *(const device float4*)(x + (group.y * 32 + in.y) * N + group.x * 32 + in.x * 4);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint column = in.x * 4;
    *(device float4*)(o + (group.x * 32 + in.y) * N + group.y * 32 + column) =
        float4(tile[column][in.y], tile[column + 1][in.y], tile[column + 2][in.y], tile[column + 3][in.y]);
"""
BLOCKS = """
    uint2 at = thread_position_in_grid.xy * 4;
    float4 rows[4];
    for (uint i = 0; i < 4; ++i) rows[i] = *(const device float4*)(x + (at.y + i) * N + at.x);
    for (uint i = 0; i < 4; ++i)
        *(device float4*)(o + (at.x + i) * N + at.y) = float4(rows[0][i], rows[1][i], rows[2][i], rows[3][i]);
"""
WRITES_APART = "uint2 at = thread_position_in_grid.xy; o[at.x * N + at.y] = x[at.y * N + at.x];"
READS_APART = "uint2 at = thread_position_in_grid.xy; o[at.y * N + at.x] = x[at.x * N + at.y];"


def rows(size: str) -> list[Computation]:
    n = 256 if size == "small" else 2048
    made = Computation(
        name="transpose",
        inputs=lambda: {
            "x": np.random.default_rng(0).standard_normal((n, n), np.float32),
            "n": np.array([n], np.uint32),
        },
        outputs={"o": ((n, n), "float32")},
        reference=lambda arrays: {"o": arrays["x"].T.astype(np.float64)},
        limit=Limit("elementwise", "transpose", ["x"], [n]),
    )
    for tile in (8, 16, 32):
        for pad in (0, 1):
            made.add(
                f"tile {tile}x{tile + pad}",
                TILE,
                (n, n),
                (tile, tile),
                template={"N": n, "TILE": tile, "PAD": pad},
            )
    eighth = (n, n // 4)
    made.add("32x32, four rows a thread", FOUR_ROWS, eighth, (32, 8), template={"N": n, "PAD": 0})
    made.add("32x33, four rows a thread", FOUR_ROWS, eighth, (32, 8), template={"N": n, "PAD": 1})
    made.add("32x33, int, bounds from the shape", BOUNDS, eighth, (32, 8))
    made.add("32x33, pointers moved", POINTERS, eighth, (32, 8), inputs=("x", "n"))
    made.add("1-D threadgroup", ONE_DIMENSION, (n * n // 4,), (256,), template={"N": n})
    made.add("32x36, float4", VECTORS, (n // 4, n), (8, 32), template={"N": n})
    apart = {"same_traffic": False, "template": {"N": n}}
    made.add("4x4 in registers", BLOCKS, (n // 4, n // 4), (8, 8), **apart)
    made.add("writes apart", WRITES_APART, (n, n), (16, 16), **apart)
    made.add("reads apart", READS_APART, (n, n), (32, 8), **apart)
    return [made]
