"""A 3x3 stencil; beyond the border all is zero."""

import numpy as np

from .phrasing import Computation, Limit

# SUM is what a thread at (row, column) computes.
LOOPS = """
    float sum = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
            int r = row + i, c = column + j;
            if (r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH) sum += w[(i + 1) * 3 + j + 1] * x[r * WIDTH + c];
        }
    o[row * WIDTH + column] = sum;
"""
SKIPPING = """
    float sum = 0;
    for (int i = -1; i <= 1; ++i) {
        int r = row + i;
        if (r < 0 || r >= HEIGHT) continue;
        for (int j = -1; j <= 1; ++j) {
            int c = column + j;
            if (c < 0 || c >= WIDTH) continue;
            sum += w[(i + 1) * 3 + j + 1] * x[r * WIDTH + c];
        }
    }
    o[row * WIDTH + column] = sum;
"""
CHOOSING = """
    float sum = 0;
    for (int k = 0; k < 9; ++k) {
        int r = row + k / 3 - 1, c = column + k % 3 - 1;
        bool inside = r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH;
        sum += w[k] * (inside ? x[r * WIDTH + c] : 0.0f);
    }
    o[row * WIDTH + column] = sum;
"""
CLAMPED = """
    float sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            int r = clamp(row + i - 1, 0, HEIGHT - 1), c = clamp(column + j - 1, 0, WIDTH - 1);
            float value = x[r * WIDTH + c];
            if (r != row + i - 1 || c != column + j - 1) value = 0;
            sum += w[i * 3 + j] * value;
        }
    o[row * WIDTH + column] = sum;
"""
INNER = """
    float sum = 0;
    if (row > 0 && row < HEIGHT - 1 && column > 0 && column < WIDTH - 1) {
        const device float* p = x + (row - 1) * WIDTH + column - 1;
        for (int i = 0; i < 3; ++i, p += WIDTH)
            sum += w[i * 3] * p[0] + w[i * 3 + 1] * p[1] + w[i * 3 + 2] * p[2];
    } else {
        for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j)
                if (row + i >= 0 && row + i < HEIGHT && column + j >= 0 && column + j < WIDTH)
                    sum += w[(i + 1) * 3 + j + 1] * x[(row + i) * WIDTH + column + j];
    }
    o[row * WIDTH + column] = sum;
"""
UNSIGNED = """
    float sum = 0;
    for (uint i = 0; i < 3; ++i)
        for (uint j = 0; j < 3; ++j) {
            uint r = row + i - 1, c = column + j - 1;
            if (r < HEIGHT && c < WIDTH) sum += w[i * 3 + j] * x[r * WIDTH + c];
        }
    o[row * WIDTH + column] = sum;
"""
LOCAL = """
    float weights[9], values[9];
    for (int k = 0; k < 9; ++k) weights[k] = w[k];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            int r = row + i - 1, c = column + j - 1;
            values[i * 3 + j] = 0;
            if (r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH) values[i * 3 + j] = x[r * WIDTH + c];
        }
    float sum = 0;
    for (int k = 8; k >= 0; --k) sum += weights[k] * values[k];
    o[row * WIDTH + column] = sum;
"""
TWO_DIMENSIONS = "int row = thread_position_in_grid.y, column = thread_position_in_grid.x;"
RETURNING = TWO_DIMENSIONS + "if (row >= HEIGHT || column >= WIDTH) return;"
TAKEN_APART = """
    int at = thread_position_in_grid.x, row = at / WIDTH, column = at % WIDTH;
    if (at >= HEIGHT * WIDTH) return;
"""
THREE_DIMENSIONS = """
    int row = thread_position_in_grid.z * 8 + thread_position_in_grid.y, column = thread_position_in_grid.x;
"""
UNSIGNED_POSITION = "uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;"
# The threadgroup's part of the picture and what surrounds it, in threadgroup memory.
TILE = """
    threadgroup float tile[18][18 + PAD];
    int in_x = thread_position_in_threadgroup.x, in_y = thread_position_in_threadgroup.y;
    int left = threadgroup_position_in_grid.x * 16 - 1, top = threadgroup_position_in_grid.y * 16 - 1;
    for (int i = in_y * 16 + in_x; i < 18 * 18; i += 256) {
        int r = top + i / 18, c = left + i % 18;
        tile[i / 18][i % 18] = r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH ? x[r * WIDTH + c] : 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum += w[i * 3 + j] * tile[in_y + i][in_x + j];
    o[(top + 1 + in_y) * WIDTH + left + 1 + in_x] = sum;
"""
# A thread goes down eight rows.
DOWN = """
    int column = thread_position_in_grid.x, first = thread_position_in_grid.y * 8;
    for (int row = first; row < first + 8; ++row) {
        SUM
    }
"""
# Four results in a row a thread.
FOUR = """
    int first = thread_position_in_grid.x * 4, row = thread_position_in_grid.y;
    float sums[4] = {0, 0, 0, 0};
    for (int i = -1; i <= 1; ++i) {
        int r = row + i;
        if (r < 0 || r >= HEIGHT) continue;
        float values[6];
        for (int j = 0; j < 6; ++j) {
            int c = first + j - 1;
            values[j] = c >= 0 && c < WIDTH ? x[r * WIDTH + c] : 0;
        }
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j) sums[k] += w[(i + 1) * 3 + j] * values[k + j];
    }
    for (int k = 0; k < 4; ++k) o[row * WIDTH + first + k] = sums[k];
"""


def reference(arrays: dict) -> dict:
    x = np.pad(arrays["x"].astype(np.float64), 1)
    height, width = arrays["x"].shape
    sums = sum(
        float(arrays["w"][i, j]) * x[i : i + height, j : j + width]
        for i in range(3)
        for j in range(3)
    )
    return {"o": sums}


def rows(size: str) -> list[Computation]:
    n = 256 if size == "small" else 2048

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal((n, n), np.float32),
            "w": random.standard_normal((3, 3), np.float32),
            "n": np.array([n, n], np.uint32),
        }

    made = Computation(
        name="stencil",
        inputs=inputs,
        outputs={"o": ((n, n), "float32")},
        reference=reference,
        rtol=1e-4,
        atol=1e-4,
        limit=Limit("elementwise", "stencil", ["x", "w"], [n, n]),
    )

    def add(name: str, source: str, grid: tuple, group: tuple, sizes: str = "constants") -> None:
        height, width = {
            "constants": (str(n), str(n)),
            "shape": ("x_shape[0]", "x_shape[1]"),
            "buffer": ("int(n[0])", "int(n[1])"),
        }[sizes]
        source = source.replace("HEIGHT", height).replace("WIDTH", width)
        made.add(name, source, grid, group, inputs=("x", "w", "n"))

    bodies = {
        "loops": LOOPS,
        "continue": SKIPPING,
        "chosen": CHOOSING,
        "clamped": CLAMPED,
        "inside and border": INNER,
        "local copies": LOCAL,
    }
    for name, body in bodies.items():
        add(f"2-D, {name}", TWO_DIMENSIONS + body, (n, n), (32, 8))
    add("2-D, loops, sizes from the shape", RETURNING + LOOPS, (n, n), (16, 16), "shape")
    add("2-D, loops, sizes from a buffer", RETURNING + LOOPS, (n, n), (32, 8), "buffer")
    add("2-D, uint", UNSIGNED_POSITION + UNSIGNED, (n, n), (32, 8))
    add("1-D taken apart", TAKEN_APART + LOOPS, (n * n,), (256,))
    add("1-D taken apart by the shape", TAKEN_APART + SKIPPING, (n * n,), (256,), "shape")
    add("3-D", THREE_DIMENSIONS + LOOPS, (n, 8, n // 8), (32, 8, 1))
    add("tile 18x18", TILE.replace("PAD", "0"), (n, n), (16, 16))
    add("tile 18x19", TILE.replace("PAD", "1"), (n, n), (16, 16))
    add("eight rows a thread", DOWN.replace("SUM", LOOPS), (n, n // 8), (256,))
    add("four in a row a thread", FOUR, (n // 4, n), (32, 8))
    return [made]
