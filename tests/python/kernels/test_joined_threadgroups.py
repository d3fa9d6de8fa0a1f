"""Short threadgroups, several of which a CPU may run as one: each keeps its place and its memory."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

PRODUCT = """
    threadgroup float left[8][8], right[8][8];
    const uint2 at = thread_position_in_grid.xy, in = thread_position_in_threadgroup.xy;
    float sum = 0;
    for (uint k = 0; k < a_shape[1]; k += 8) {
        left[in.y][in.x] = a[at.y * a_shape[1] + k + in.x];
        right[in.y][in.x] = b[(k + in.y) * b_shape[1] + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 8; ++i) sum += left[in.y][i] * right[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * b_shape[1] + at.x] = sum;
"""
PRODUCT_OF_ROWS = """
    threadgroup float left[T][T], right[T][T];
    const uint item = thread_position_in_threadgroup.x, group = threadgroup_position_in_grid.x;
    const uint y = item / T, x = item % T, tiles = b_shape[1] / T;
    const uint row = group / tiles * T + y, column = group % tiles * T + x;
    float sum = 0;
    for (uint k = 0; k < a_shape[1]; k += T) {
        left[y][x] = a[row * a_shape[1] + k + x];
        right[y][x] = b[(k + y) * b_shape[1] + column];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < T; ++i) sum += left[y][i] * right[i][x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[row * b_shape[1] + column] = sum;
"""


def product(rng, source, rows, columns, grid, threadgroup, **launch):
    a = rng.standard_normal((rows, 48)).astype(np.float32)
    b = rng.standard_normal((48, columns)).astype(np.float32)
    outputs = {"c": ((rows, columns), mx.float32)}
    c = run_one(source, {"a": a, "b": b}, outputs, grid, threadgroup, **launch)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


# Also an odd number of threadgroups in a row, the last of which has no neighbour.
@pytest.mark.parametrize("columns", [128, 136, 8])
def test_product(rng, columns):
    product(rng, PRODUCT, 320, columns, (columns, 320, 1), (8, 8, 1))


@pytest.mark.parametrize("tile", [8, 16])
def test_product_of_rows(rng, tile):
    sizes = (144 * 96, 1, 1), (tile * tile, 1, 1)
    product(rng, PRODUCT_OF_ROWS, 144, 96, *sizes, template=[("T", tile)])


TRANSPOSED = """
    threadgroup float tile[H][8 + 1];
    const uint2 in = thread_position_in_threadgroup.xy, group = threadgroup_position_in_grid.xy;
    tile[in.y][in.x] = x[(group.y * H + in.y) * x_shape[1] + group.x * 8 + in.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint item = in.y * 8 + in.x;
    o[(group.x * 8 + item / H) * x_shape[0] + group.y * H + item % H] = tile[item % H][item / H];
"""


@pytest.mark.parametrize("height", [8, 4, 2])
@pytest.mark.parametrize("tiles", [(16, 16), (17, 13)])
def test_transposition(rng, height, tiles):
    x = rng.standard_normal((tiles[0] * height, tiles[1] * 8)).astype(np.float32)
    o = run_one(
        TRANSPOSED,
        {"x": x},
        {"o": (x.T.shape, mx.float32)},
        (x.shape[1], x.shape[0], 1),
        (8, height, 1),
        template=[("H", height)],
    )
    np.testing.assert_array_equal(o, x.T)


# Everything that a thread is told of its threadgroup, and a neighbour's element.
PLACES = """
    threadgroup uint seen[32];
    const uint3 in = thread_position_in_threadgroup, group = threadgroup_position_in_grid;
    const uint index = thread_index_in_threadgroup;
    uint sum = 0;
    for (uint i = 0; i < 3; ++i) {
        seen[index] = group.x * 1000 + group.y * 100 + index + i;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 2; ++k) sum += seen[(index + k + 1) % 32];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    const uint3 size = threads_per_threadgroup, groups = threadgroups_per_grid;
    const uint3 at = thread_position_in_grid;
    const uint place = PLACE;
    out[place * 8] = sum;
    out[place * 8 + 1] = in.x + 100 * in.y;
    out[place * 8 + 2] = group.x + 100 * group.y;
    out[place * 8 + 3] = size.x + 100 * size.y;
    out[place * 8 + 4] = groups.x + 100 * groups.y;
    out[place * 8 + 5] = at.x + 1000 * at.y;
    out[place * 8 + 6] = dispatch_threads_per_threadgroup.x + 100 * index;
    out[place * 8 + 7] = thread_index_in_simdgroup;
"""


# Where threadgroups below each other write neighbouring elements, those may run as one.
@pytest.mark.parametrize("down", [False, True])
def test_places(down):
    width, height = 9, 10  # threadgroups
    place = "at.x * threads_per_grid.y + at.y" if down else "at.y * threads_per_grid.x + at.x"
    shape = (width * 8, height * 4) if down else (height * 4, width * 8)
    out = run_one(
        PLACES.replace("PLACE", place),
        {},
        {"out": ((*shape, 8), mx.uint32)},
        (width * 8, height * 4, 1),
        (8, 4, 1),
    )
    y, x = np.mgrid[: height * 4, : width * 8]
    index = y % 4 * 8 + x % 8
    first = (x // 8) * 1000 + (y // 4) * 100
    expected = [
        sum(first + (index + k) % 32 + i for k in (1, 2) for i in range(3)),
        x % 8 + 100 * (y % 4),
        x // 8 + 100 * (y // 4),
        np.full_like(x, 408),
        np.full_like(x, width + 100 * height),
        x + 1000 * y,
        8 + 100 * index,
        index,
    ]
    found = out.transpose(1, 0, 2) if down else out
    np.testing.assert_array_equal(found, np.stack(expected, axis=-1))


# Each threadgroup comes to as many barriers as its position says, so none can run as one.
UNLIKE = """
    threadgroup float line[64];
    const uint index = thread_index_in_threadgroup, group = threadgroup_position_in_grid.x;
    float value = x[thread_position_in_grid.x];
    for (uint i = 0; i < group % 5; ++i) {
        line[index] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        value += line[(index + 8) % 64];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (x[group * 64] > 0) {
        line[index] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        value = line[index / 8 * 8] - value;
    }
    out[thread_position_in_grid.x] = value;
"""


def test_different_paths(rng):
    x = rng.integers(-9, 9, (40, 64)).astype(np.float32)
    out = run_one(UNLIKE, {"x": x}, {"out": (x.shape, mx.float32)}, (x.size, 1, 1), (64, 1, 1))
    expected = x.copy()
    for group, row in enumerate(expected):
        for _ in range(group % 5):
            row += np.roll(row, -8)
        if x[group, 0] > 0:
            row[:] = np.repeat(row[::8], 8) - row
    np.testing.assert_array_equal(out, expected)
