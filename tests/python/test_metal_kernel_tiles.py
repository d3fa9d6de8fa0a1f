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
