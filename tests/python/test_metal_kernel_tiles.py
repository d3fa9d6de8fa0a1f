"""Lanes whose elements lie in short rows of a tile: neighbours follow each other only within a row."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_one

TYPES = {**INTEGERS, "float": FLOATS["float"], "half": FLOATS["half"]}
THREADGROUPS = 3

START = """
    typedef {type} T;
    uint l = thread_position_in_threadgroup.x, g = threadgroup_position_in_grid.x;
    uint at = l / {row} * {pitch} + l % {row};
    uint of_tile = g * {tile};
"""
BODIES = {
    "copied": "y[of_tile + at] = x[of_tile + at] * 2 + T(l);",
    "some lanes": "if (l % 3 != 1) y[of_tile + at] = x[of_tile + at] * 2 + T(l);",
    "the first lanes": "if (l < {some}) y[of_tile + at] = x[of_tile + at] * 2 + T(l);",
    "chosen": "y[of_tile + at] = l % 3 != 1 ? x[of_tile + at] * 2 + T(l) : T(0);",
    "read by some": "T v = 0; if (x[of_tile] != T(l)) v = x[of_tile + at] * 2 + T(l); y[of_tile + at] = v;",
    "shared": """threadgroup T t[{tile}];
        t[at] = x[of_tile + at];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint other = {threads} - 1 - l;
        other = other / {row} * {pitch} + other % {row};
        y[of_tile + at] = t[at] * 2 + t[other];""",
    "shared by some": """threadgroup T t[{tile}];
        if (l % 5 != 2) t[at] = x[of_tile + at];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (l % 5 != 2) y[of_tile + at] = t[at] * 2 + T(l);""",
    "private": """T own[4];
        for (uint k = 0; k < 4; ++k) own[k] = x[of_tile + at] * T(k);
        y[of_tile + at] = own[l % 4] + T(l);""",
}


def expected(name: str, x: np.ndarray, at: np.ndarray, threads: int) -> np.ndarray:
    """Of one tile."""
    lanes = np.arange(threads)
    own = x[at]
    result = own * 2 + lanes
    written = np.ones(threads, bool)
    if name == "some lanes":
        written = lanes % 3 != 1
    elif name == "the first lanes":
        written = lanes < threads // 2 + 3
    elif name == "chosen":
        result = np.where(lanes % 3 != 1, result, 0)
    elif name == "read by some":
        result = np.where(x[0] != lanes, result, 0)
    elif name == "shared":
        result = own * 2 + own[::-1]
    elif name == "shared by some":
        written = lanes % 5 != 2
    elif name == "private":
        result = own * (lanes % 4) + lanes
    y = np.zeros(len(x), x.dtype)
    y[at[written]] = result[written]
    return y


@pytest.mark.parametrize(("row", "pitch"), [(2, 5), (4, 4), (4, 7), (8, 20), (16, 33), (32, 40)])
@pytest.mark.parametrize("name", BODIES)
def test_tiles(name, row, pitch):
    rng = np.random.default_rng(row)
    for threads in (64, 40):
        tile = (threads + row - 1) // row * pitch
        lanes = np.arange(threads)
        at = lanes // row * pitch + lanes % row
        x = rng.integers(0, 12, (THREADGROUPS, tile))
        wanted = np.stack([expected(name, tile_of_x, at, threads) for tile_of_x in x])
        # Each case has some of the types, all of them together.
        for type_name in list(TYPES)[(row + len(name)) % 3 :: 3]:
            dtype = TYPES[type_name]
            found = run_one(
                (START + BODIES[name]).format(
                    type=type_name,
                    row=row,
                    pitch=pitch,
                    tile=tile,
                    threads=threads,
                    some=threads // 2 + 3,
                ),
                {"x": mx.array(x).astype(dtype)},
                {"y": (x.shape, dtype)},
                THREADGROUPS * threads,
                threads,
                init_value=0,
            )
            assert found.tolist() == wanted.astype(found.dtype).tolist(), type_name


# A tile with more than one index: threads fill it, and read it with their own index `of` turned
# around. PLACE(i) is where the i-th element stands in the tile.
ARRAYS = {
    "rows": ("threadgroup T t[{count} / {row} + 1][{pitch}];", "t[({i}) / {row}][({i}) % {row}]"),
    "layers": (
        "threadgroup T t[2][{count} / {row} + 1][{pitch}];",
        "t[({i}) & 1][({i}) / {row}][({i}) % {row}]",
    ),
    "signed": (
        "threadgroup T u[{count} / {row} + 5][{pitch}]; threadgroup T(*t)[{pitch}] = u + 4;",
        "t[int({i}) / {row} - 4][int({i}) % {row}]",
    ),
    "negative": (
        "threadgroup T u[{count} / {row} + 40][{pitch}]; threadgroup T(*t)[{pitch}] = u + 20;",
        "t[(int({i}) - 20) / {row}][(int({i}) - 20) % {row}]",
    ),
    "structs": (
        "struct S {{ char before; T of[{pitch}]; }}; threadgroup S t[{count} / {row} + 1];",
        "t[({i}) / {row}].of[({i}) % {row}]",
    ),
    "of bytes": (
        "threadgroup T t[{count} / {row} + 1][{pitch}];",
        "t[uchar(({i}) / {row})][uchar(({i}) % {row})]",
    ),
}
USES = {
    "all": ("{at} = T(x[of_tile + i]);", "y[of_tile + i] = {turned};"),
    "some": (
        "if (i % 3) {at} = T(x[of_tile + i]); else {at} = T(1);",
        "y[of_tile + i] = i % 5 ? {turned} : T(2);",
    ),
}
FILL = """
    {array}
    uint l = thread_position_in_threadgroup.y * 16 + thread_position_in_threadgroup.x;
    uint of_tile = threadgroup_position_in_grid.x * {count};
    for (uint i = l; i < {count}; i += {threads}) {{ {fill} }}
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = l; i < {count}; i += {threads}) {{ {use} }}
"""


@pytest.mark.parametrize(("row", "pitch"), [(3, 3), (18, 18), (18, 19), (33, 40)])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("array", ARRAYS)
def test_tiles_with_several_indices(array, use, row, pitch):
    rng = np.random.default_rng(row)
    for rows_of_threads, count in ((16, 324), (2, 45), (1, 16)):
        threads, i = 16 * rows_of_threads, np.arange(count)
        x = rng.integers(0, 12, (THREADGROUPS, count))
        kept = x if use == "all" else np.where(i % 3, x, 1)
        wanted = kept[:, ::-1] if use == "all" else np.where(i % 5, kept[:, ::-1], 2)
        for type_name in list(TYPES)[(row + len(array) + count) % 3 :: 3]:
            dtype = TYPES[type_name]
            declared, place = ARRAYS[array]
            sizes = {"row": row, "pitch": pitch, "count": count}
            fill, read = USES[use]
            body = FILL.format(
                array=f"typedef {type_name} T; " + declared.format(**sizes),
                fill=fill.format(at=place.format(i="i", **sizes)),
                use=read.format(turned=place.format(i=f"{count - 1} - i", **sizes)),
                count=count,
                threads=threads,
            )
            found = run_one(
                body,
                {"x": mx.array(x).astype(dtype)},
                {"y": (x.shape, dtype)},
                (THREADGROUPS * 16, rows_of_threads, 1),
                (16, rows_of_threads, 1),
            )
            assert found.tolist() == wanted.tolist(), (body, type_name)


# Tiles with a halo, filled by the threads of a threadgroup in loops from their place on.
FILLS = {
    "elements": """
        for (int i = y * {x} + x; i < {high} * {wide}; i += {x} * {y}) {{
            int r = top + i / {wide}, c = left + i % {wide};
            t[i / {wide}][i % {wide}] = r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH ? in[r * WIDTH + c] : T(1);
        }}""",
    "rows and columns": """
        for (uint i = y; i < {high}; i += {y})
            for (uint j = x; j < {wide}; j += {x}) {{
                int r = top + i, c = left + j;
                T value = 1;
                if (r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH) value = in[r * WIDTH + c];
                t[i][j] = value;
            }}""",
    "the last one outside": """
        int last = -1;
        for (int i = y * {x} + x; i < {high} * {wide}; i += {x} * {y}) {{
            int r = clamp(top + i / {wide}, 0, HEIGHT - 1), c = clamp(left + i % {wide}, 0, WIDTH - 1);
            t[i / {wide}][i % {wide}] = in[r * WIDTH + c];
            last = i;
        }}
        if (last >= 0 && last % 3 == 0) t[last / {wide}][last % {wide}] = T(last % 8);""",
}
HALO = """
    typedef {type} T;
    const int HEIGHT = in_shape[0], WIDTH = in_shape[1];
    threadgroup T t[{high}][{wide} + {pad}];
    int x = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
    int left = int(threadgroup_position_in_grid.x) * {x} - 1;
    int top = int(threadgroup_position_in_grid.y) * {y} - 1;
    {fill}
    threadgroup_barrier(mem_flags::mem_threadgroup);
    T sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum += t[y + i][x + j] * T(3 * i + j + 1);
    out[thread_position_in_grid.y * threads_per_grid.x + thread_position_in_grid.x] = sum;
"""


def filled(name: str, picture: np.ndarray, top: int, left: int, x: int, y: int) -> np.ndarray:
    """The tile of a threadgroup."""
    rows, columns = np.arange(top, top + y + 2), np.arange(left, left + x + 2)
    height, width = picture.shape
    tile = picture[np.clip(rows, 0, height - 1)][:, np.clip(columns, 0, width - 1)].copy()
    if name != "the last one outside":
        tile[(rows < 0) | (rows >= height)] = 1
        tile[:, (columns < 0) | (columns >= width)] = 1
        return tile
    elements = tile.reshape(-1)
    last = np.arange(len(elements))[-x * y :]
    last = last[last % 3 == 0]
    elements[last] = last % 8
    return tile


@pytest.mark.parametrize("group", [(16, 16), (32, 4), (8, 8), (64, 2), (24, 3), (32, 32)])
@pytest.mark.parametrize("name", FILLS)
def test_halos(name, group):
    x, y = group
    grid = (2 * x, 3 * y)
    rng = np.random.default_rng(x)
    # The picture ends within the last threadgroups.
    picture = rng.integers(-9, 9, (grid[1] - 3, grid[0] - 5))
    wanted = np.zeros((grid[1], grid[0]), picture.dtype)
    for top in range(0, grid[1], y):
        for left in range(0, grid[0], x):
            tile = filled(name, picture, top - 1, left - 1, x, y)
            for i in range(3):
                for j in range(3):
                    part = tile[i : i + y, j : j + x] * (3 * i + j + 1)
                    wanted[top : top + y, left : left + x] += part
    for pad, type_name in enumerate(("float", "int", "half" if x * y < 256 else "ushort")):
        sizes = {"x": x, "y": y, "wide": x + 2, "high": y + 2}
        dtype = TYPES[type_name]
        source = HALO.format(type=type_name, pad=pad, fill=FILLS[name].format(**sizes), **sizes)
        kernel = mx.fast.metal_kernel("halos", ["in"], ["out"], source)
        (found,) = kernel(
            inputs=[mx.array(picture).astype(dtype)],
            grid=(*grid, 1),
            threadgroup=(x, y, 1),
            output_shapes=[wanted.shape],
            output_dtypes=[dtype],
        )
        expected_sum = np.array(mx.array(wanted).astype(dtype).astype(mx.float32))
        np.testing.assert_array_equal(np.array(found.astype(mx.float32)), expected_sum)
