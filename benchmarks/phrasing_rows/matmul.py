"""A product of square matrices in tiles."""

import numpy as np

from .phrasing import Computation, Limit

TILE = """
    threadgroup float a_tile[TILE][TILE + PAD], b_tile[TILE][TILE + PAD];
    uint2 at = thread_position_in_grid.xy, in = thread_position_in_threadgroup.xy;
    float sum = 0;
    for (INDEX k = 0; k < SIZE; k += TILE) {
        a_tile[in.y][in.x] = a[at.y * SIZE + k + in.x];
        b_tile[in.y][in.x] = b[(k + in.y) * SIZE + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (INDEX i = 0; i < TILE; ++i) sum += a_tile[in.y][i] * b_tile[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * SIZE + at.x] = sum;
"""
BOUNDS = """
    threadgroup float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int height = a_shape[0], depth = a_shape[1], width = b_shape[1];
    int in_x = thread_position_in_threadgroup.x, in_y = thread_position_in_threadgroup.y;
    int row = threadgroup_position_in_grid.y * TILE + in_y;
    int column = threadgroup_position_in_grid.x * TILE + in_x;
    float sum = 0;
    for (int t = 0; t < (depth + TILE - 1) / TILE; ++t) {
        int k = t * TILE;
        a_tile[in_y][in_x] = row < height && k + in_x < depth ? a[row * depth + k + in_x] : 0;
        b_tile[in_y][in_x] = column < width && k + in_y < depth ? b[(k + in_y) * width + column] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < TILE; ++i) sum += a_tile[in_y][i] * b_tile[i][in_x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < height && column < width) c[row * width + column] = sum;
"""
POINTERS = """
    threadgroup float a_tile[16 * 16], b_tile[16 * 16];
    const uint size = n[0];
    uint item = thread_index_in_threadgroup, column = item % 16, row = item / 16;
    uint top = threadgroup_position_in_grid.y * 16, left = threadgroup_position_in_grid.x * 16;
    const device float* p = a + (top + row) * size + column;
    const device float* q = b + row * size + left + column;
    float sum = 0;
    for (uint k = 0; k < size; k += 16) {
        a_tile[item] = *p;
        b_tile[item] = *q;
        p += 16;
        q += 16 * size;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const threadgroup float* u = a_tile + row * 16;
        const threadgroup float* v = b_tile + column;
        for (int i = 0; i < 16; ++i, ++u, v += 16) sum = fma(*u, *v, sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[(top + row) * size + left + column] = sum;
"""
# A threadgroup of one dimension; its position is taken apart.
ONE_DIMENSION = """
    threadgroup float a_tile[TILE][TILE], b_tile[TILE][TILE];
    uint item = thread_position_in_threadgroup.x, group = threadgroup_position_in_grid.x;
    uint in_y = item / TILE, in_x = item % TILE;
    uint row = group / (SIZE / TILE) * TILE + in_y, column = group % (SIZE / TILE) * TILE + in_x;
    float sum = 0;
    for (uint k = 0; k < SIZE; k += TILE) {
        a_tile[in_y][in_x] = a[row * SIZE + k + in_x];
        b_tile[in_y][in_x] = b[(k + in_y) * SIZE + column];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < TILE; ++i) sum += a_tile[in_y][i] * b_tile[i][in_x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[row * SIZE + column] = sum;
"""
# Threadgroups of 32x8: each thread computes four results below each other.
FOUR_ROWS = """
    threadgroup float a_tile[32][32], b_tile[32][32];
    uint2 in = thread_position_in_threadgroup.xy, group = threadgroup_position_in_grid.xy;
    uint top = group.y * 32, left = group.x * 32;
    float sums[4] = {0, 0, 0, 0};
    for (uint k = 0; k < SIZE; k += 32) {
        for (uint i = 0; i < 4; ++i) {
            uint row = in.y + i * 8;
            a_tile[row][in.x] = a[(top + row) * SIZE + k + in.x];
            b_tile[row][in.x] = b[(k + row) * SIZE + left + in.x];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 32; ++i) {
            float value = b_tile[i][in.x];
            for (uint j = 0; j < 4; ++j) sums[j] += a_tile[in.y + j * 8][i] * value;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint j = 0; j < 4; ++j) c[(top + in.y + j * 8) * SIZE + left + in.x] = sums[j];
"""
# 32x32 results a threadgroup of 16x16 threads, each 2x2 of them, 16 apart.
TWO_BY_TWO = """
    threadgroup float a_tile[32][16 + 1], b_tile[16][32 + 1];
    int x = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
    int top = threadgroup_position_in_grid.y * 32, left = threadgroup_position_in_grid.x * 32;
    float sums[2][2] = {{0, 0}, {0, 0}};
    for (int k = 0; k < SIZE; k += 16) {
        for (int i = 0; i < 2; ++i) {
            a_tile[y + i * 16][x] = a[(top + y + i * 16) * SIZE + k + x];
            b_tile[y][x + i * 16] = b[(k + y) * SIZE + left + x + i * 16];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int d = 0; d < 16; ++d)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) sums[i][j] += a_tile[y + i * 16][d] * b_tile[d][x + j * 16];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) c[(top + y + i * 16) * SIZE + left + x + j * 16] = sums[i][j];
"""
# 64x64 results a threadgroup of 16x16 threads, each 4x4 of them in registers.
BLOCKS = """
    threadgroup float a_tile[64][16], b_tile[16][64];
    uint item = thread_index_in_threadgroup;
    uint row = item / 16 * 4, column = item % 16 * 4;
    uint top = threadgroup_position_in_grid.y * 64, left = threadgroup_position_in_grid.x * 64;
    float4 sums[4] = {0, 0, 0, 0};
    for (uint k = 0; k < SIZE; k += 16) {
        *(threadgroup float4*)&a_tile[item / 4][item % 4 * 4] =
            *(const device float4*)(a + (top + item / 4) * SIZE + k + item % 4 * 4);
        *(threadgroup float4*)&b_tile[item / 16][item % 16 * 4] =
            *(const device float4*)(b + (k + item / 16) * SIZE + left + item % 16 * 4);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 16; ++i) {
            float4 values = *(const threadgroup float4*)&b_tile[i][column];
            for (uint j = 0; j < 4; ++j) sums[j] += a_tile[row + j][i] * values;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint j = 0; j < 4; ++j) *(device float4*)(c + (top + row + j) * SIZE + left + column) = sums[j];
"""
NONE = """
    uint2 at = thread_position_in_grid.xy;
    float sum = 0;
    for (uint k = 0; k < SIZE; ++k) sum += a[at.y * SIZE + k] * b[k * SIZE + at.x];
    c[at.y * SIZE + at.x] = sum;
"""
NONE_BOUNDS = """
    int row = thread_position_in_grid.y, column = thread_position_in_grid.x;
    int height = a_shape[0], depth = a_shape[1], width = b_shape[1];
    if (row >= height || column >= width) return;
    float sum = 0;
    const device float* p = a + row * depth;
    const device float* q = b + column;
    for (int k = 0; k < depth; ++k) {
        sum += *p++ * *q;
        q += width;
    }
    c[row * width + column] = sum;
"""


def rows(size: str) -> list[Computation]:
    n = 128 if size == "small" else 1024

    def inputs() -> dict:
        random = np.random.default_rng(0)
        arrays = {name: random.standard_normal((n, n), np.float32) for name in "ab"}
        return arrays | {"n": np.array([n], np.uint32)}

    made = Computation(
        name="matmul",
        inputs=inputs,
        outputs={"c": ((n, n), "float32")},
        reference=lambda arrays: {
            "c": arrays["a"].astype(np.float64) @ arrays["b"].astype(np.float64)
        },
        rtol=1e-4,
        atol=2e-3,
        limit=Limit("products", "matmul", ["a", "b"], [n]),
    )
    ab = {"inputs": ("a", "b")}
    for tile in (8, 16, 32):
        square = ((n, n), (tile, tile))
        for index, pad in (("uint", 0), ("int", 0), ("ushort", 1)):
            name = f"tile {tile}x{tile + pad}, {index}"
            template = {"SIZE": n, "TILE": tile, "PAD": pad}
            made.add(name, TILE.replace("INDEX", index), *square, template=template, **ab)
        made.add(f"tile {tile}, bounds from shapes", BOUNDS, *square, template={"TILE": tile}, **ab)
        made.add(
            f"tile {tile}, 1-D threadgroup",
            ONE_DIMENSION,
            (n * n,),
            (tile * tile,),
            template={"SIZE": n, "TILE": tile},
            **ab,
        )
    made.add("tile 16, pointers moved", POINTERS, (n, n), (16, 16), inputs=("a", "b", "n"))
    shared = {"template": {"SIZE": n}, **ab}
    made.add("tile 32, four rows a thread", FOUR_ROWS, (n, n // 4), (32, 8), **shared)
    made.add("tile 32x16, 2x2 a thread", TWO_BY_TWO, (n // 2, n // 2), (16, 16), **shared)
    made.add("tile 64, 4x4 a thread, float4", BLOCKS, (n // 4, n // 4), (16, 16), **shared)
    made.add("no tile", NONE, (n, n), (16, 16), same_traffic=False, **shared)
    made.add("no tile, pointers", NONE_BOUNDS, (n, n), (32, 8), same_traffic=False, **ab)
    return [made]
