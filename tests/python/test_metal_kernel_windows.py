"""Windows: each element around a thread's own has a guard, or a limit, at the edges of the data."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

# The sum over a 3x3 window of a picture of HEIGHT x WIDTH; outside all is zero.
GUARDS = {
    "signed": "int r = int(y) + i, c = int(x) + j; if (r >= 0 && r < HEIGHT && c >= 0 && c < WIDTH)",
    "unsigned": "uint r = y + i, c = x + j; if (r < HEIGHT && c < WIDTH)",
    "outside": "int r = int(y) + i, c = int(x) + j; if (!(r < 0 || c < 0 || r >= HEIGHT || c >= WIDTH))",
    "skipped": "int r = int(y) + i; if (r < 0 || r >= HEIGHT) continue;"
    " int c = int(x) + j; if (c < 0 || c >= WIDTH) continue;",
}
SIZES = {
    "constants": ("{height}", "{width}"),
    "shape": ("int(a_shape[0])", "int(a_shape[1])"),
    "buffer": ("int(n[0])", "int(n[1])"),
}


def sums(a: np.ndarray) -> np.ndarray:
    height, width = a.shape
    padded = np.pad(a, 1)
    return sum(padded[i : i + height, j : j + width] for i in range(3) for j in range(3))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize(
    ("height", "width"), [(3, 256), (8, 128), (5, 97), (7, 32), (2, 5), (64, 64)]
)
def test_sums_of_windows(height: int, width: int, guard: str, sizes: str) -> None:
    heights, widths = (text.format(height=height, width=width) for text in SIZES[sizes])
    source = f"""
        uint x = thread_position_in_grid.x, y = thread_position_in_grid.y;
        if (y >= uint(HEIGHT) || x >= uint(WIDTH)) return;
        int sum = 0;
        for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j) {{
                {GUARDS[guard]} sum += a[r * WIDTH + c];
            }}
        out[y * WIDTH + x] = sum;"""
    a = np.arange(height * width, dtype=np.int32).reshape(height, width) ** 2 % 1009
    got = run_one(
        source.replace("HEIGHT", heights).replace("WIDTH", widths),
        {"a": a, "n": np.array([height, width], np.int32)},
        {"out": ((height, width), mx.int32)},
        (width, height, 1),
        (32, 2, 1),
    )
    assert np.array_equal(got, sums(a))


def test_a_window_after_a_result() -> None:
    """What was written stays, although the window would be outside in some lanes only."""
    source = """
        int x = thread_position_in_grid.x;
        out[x] = -1;
        int sum = 0;
        for (int j = -2; j <= 2; ++j)
            if (x + j >= 0 && x + j < int(n[0])) sum += a[x + j];
        if (sum > 100) out[x] = sum;"""
    a = np.arange(200, dtype=np.int32)
    got = run_one(
        source,
        {"a": a, "n": np.array([len(a)] * 8, np.int32)},
        {"out": ((len(a),), mx.int32)},
        len(a),
        64,
    )
    padded = np.pad(a, 2)
    expected = sum(padded[j : j + len(a)] for j in range(5))
    assert np.array_equal(got, np.where(expected > 100, expected, -1))
