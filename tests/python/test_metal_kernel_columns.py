"""Columns of tiles in threadgroup memory, which neighbouring rows of threads read together."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_one

TYPES = {**INTEGERS, "float": FLOATS["float"], "half": FLOATS["half"]}

START = """
    typedef {type} T;
    threadgroup T tile[{rows}][{pitch}];
    uint x_in = thread_position_in_threadgroup.x, y_in = thread_position_in_threadgroup.y;
    uint item = thread_index_in_threadgroup;
    uint left = threadgroup_position_in_grid.x * {side}, top = threadgroup_position_in_grid.y * {side};
    uint height = x_shape[0], width = x_shape[1];
    for (uint i = y_in; i < {side}; i += {lines})
        tile[i][x_in] = top + i < height && left + x_in < width ? x[(top + i) * width + left + x_in] : T(0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
"""
BODIES = {
    "guarded": """
        for (uint i = y_in; i < {side}; i += {lines})
            if (left + i < width && top + x_in < height)
                y[(left + i) * height + top + x_in] = tile[x_in][i];""",
    "one by one": """
        for (uint i = item; i < {side} * {side}; i += {side} * {lines}) {{
            uint row = i / {side}, column = i % {side};
            if (left + row < width && top + column < height)
                y[(left + row) * height + top + column] = tile[column][row];
        }}""",
    "written in between": """
        for (uint i = y_in; i < {side}; i += {lines}) {{
            T value = tile[x_in][i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            tile[x_in][i] = value + 1;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (left + i < width && top + x_in < height)
                y[(left + i) * height + top + x_in] = tile[x_in][i] - 1;
        }}""",
    "its own": """
        for (uint i = y_in; i < {side}; i += {lines}) {{
            tile[x_in][i] += 1;
            if (left + i < width && top + x_in < height)
                y[(left + i) * height + top + x_in] = tile[x_in][i] - 1;
        }}""",
    "backwards": """
        for (uint i = y_in; i < {side}; i += {lines}) {{
            uint row = {side} - 1 - i;
            if (left + row < width && top + x_in < height)
                y[(left + row) * height + top + x_in] = tile[x_in][row];
        }}""",
}


@pytest.mark.parametrize(
    ("side", "lines", "pad"), [(8, 8, 0), (16, 16, 1), (32, 8, 1), (32, 2, 0), (64, 4, 2)]
)
@pytest.mark.parametrize("name", BODIES)
def test_transposed_tiles(name, side, lines, pad):
    rng = np.random.default_rng(side)
    for shape in ((2 * side, side), (side + 3, 2 * side - 5)):
        x = rng.integers(0, 100, shape)
        for type_name in list(TYPES)[(side + lines + len(name)) % 3 :: 3]:
            dtype = TYPES[type_name]
            if side * (side + pad) * dtype.size > 32768:
                continue
            groups = [(extent + side - 1) // side for extent in shape]
            found = run_one(
                (START + BODIES[name]).format(
                    type=type_name, rows=side, pitch=side + pad, side=side, lines=lines
                ),
                {"x": mx.array(x).astype(dtype)},
                {"y": (shape[::-1], dtype)},
                (groups[1] * side, groups[0] * lines, 1),
                (side, lines, 1),
                init_value=0,
            )
            assert found.tolist() == x.T.astype(found.dtype).tolist(), type_name
