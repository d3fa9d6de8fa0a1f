"""Kernels whose threads are at the edges of arrays: some gangs have such threads, most have none."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, share

COUNTS = [1, 7, 8, 250, 256, 257, 2047, 2048, 2049]
RUNS = {
    "bounds": "for (uint k = 0; k < 8; ++k) { uint at = i * 8 + k; if (at < n[0]) o[at] = F(x[at]); }",
    "nearer end": "uint end = min(i * 8 + 8, n[0]); for (uint k = i * 8; k < end; ++k) o[k] = F(x[k]);",
    "break": "for (int k = i * 8; k < int(i * 8 + 8); ++k) { if (k >= int(n[0])) break; o[k] = F(x[k]); }",
    "return": "for (uint k = i * 8; k < i * 8 + 8; ++k) { if (k >= n[0]) return; o[k] = F(x[k]); }",
    "whole runs": """
        if (i * 8 + 8 <= n[0]) for (uint k = 0; k < 8; ++k) o[i * 8 + k] = F(x[i * 8 + k]);
        else for (uint k = i * 8; k < n[0]; ++k) o[k] = F(x[k]);""",
    "start and end": """
        uint first = min(i * 8, n[0]), end = min(first + 8, n[0]);
        for (uint k = first; k < end; ++k) o[k] = F(x[k]);""",
    "size that is read again": """
        for (uint k = 0; k < 8; ++k)
            if (i * 8 + k < ((const device volatile uint*)n)[0]) o[i * 8 + k] = F(x[i * 8 + k]);""",
    "pairs": """
        for (uint k = 0; k < 8; k += 2) {
            uint at = i * 8 + k;
            if (at + 1 < n[0]) { o[at] = F(x[at]); o[at + 1] = F(x[at + 1]); }
            else if (at < n[0]) o[at] = F(x[at]);
        }""",
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("form", share(list(RUNS)))
def test_runs_that_end_early(form: str, count: int, rng):
    """What lies behind the size stays as it is."""
    x = rng.integers(-1000, 1000, 4096).astype(np.int32)
    for threads, group in [(512, 64), (509, 256), (512, 7)]:
        got = run_one(
            "uint i = thread_position_in_grid.x;" + RUNS[form].replace("F(", "3 * ("),
            {"x": x, "n": np.array([count], np.uint32)},
            {"o": ((4096,), mx.int32)},
            threads,
            group,
            init_value=-5,
        )
        end = min(count, threads * 8)
        np.testing.assert_array_equal(got[:end], 3 * x[:end])
        np.testing.assert_array_equal(got[end:], -5)


# An index beside the thread's, and its limits.
CLAMPED = {
    "clamp": ("clamp(i + D, 0, n[0] - 1)", lambda at, n: np.clip(at, 0, n - 1)),
    "min of max": ("min(max(i + D, 0), n[0] - 1)", lambda at, n: np.clip(at, 0, n - 1)),
    "max of min": ("max(min(i + D, n[0] - 1), 0)", lambda at, n: np.clip(at, 0, n - 1)),
    "chosen": (
        "(i + D < 0 ? 0 : i + D >= n[0] ? n[0] - 1 : i + D)",
        lambda at, n: np.clip(at, 0, n - 1),
    ),
    "unsigned": ("int(min(uint(i + D), uint(n[0] - 1)))", lambda at, n: np.where(at < 0, n - 1, np.minimum(at, n - 1))),
    "upper only": ("min(abs(i + D), n[0] - 1)", lambda at, n: np.minimum(np.abs(at), n - 1)),
    "turned back": (
        "min(abs(i + D) > n[0] - 1 ? abs(2 * (n[0] - 1) - abs(i + D)) : abs(i + D), n[0] - 1)",
        lambda at, n: np.minimum(
            np.where(np.abs(at) > n - 1, np.abs(2 * (n - 1) - np.abs(at)), np.abs(at)), n - 1
        ),
    ),
    "short": ("int(clamp(short(i + D), short(0), short(n[0] - 1)))", lambda at, n: np.clip(at, 0, n - 1)),
}  # fmt: skip


@pytest.mark.parametrize("distance", [-40, -1, 0, 1, 33])
@pytest.mark.parametrize("form", share(list(CLAMPED)))
def test_clamped_indices(form: str, distance: int, rng):
    expression, reference = CLAMPED[form]
    x = rng.integers(-1000, 1000, 1000).astype(np.int32)
    for size, threads in [(1, 100), (31, 64), (1000, 1000), (999, 1000), (300, 1000)]:
        got = run_one(
            f"int i = thread_position_in_grid.x; o[i] = x[{expression.replace('D', f'({distance})')}];",
            {"x": x, "n": np.array([size], np.int32)},
            {"o": ((threads,), mx.int32)},
            threads,
            128,
        )
        at = reference(np.arange(threads) + distance, size)
        np.testing.assert_array_equal(got, x[at])


@pytest.mark.parametrize("size", [0, 1, -1, 2**31 - 1, -(2**31)])
def test_sizes_at_the_ends_of_integers(size: int):
    """Sums in comparisons wrap around as those of the program do."""
    got = run_one(
        """
        uint i = thread_position_in_grid.x;
        for (uint k = 0; k < 4; ++k) o[i * 4 + k] = i * 4 + k + uint(n[0]) < 700u ? 1 : 2;
        for (uint k = 0; k < 4; ++k) if (i * 4 + k - 300u < uint(n[0])) o[i * 4 + k] += 4;
        """,
        {"n": np.array([size], np.int32)},
        {"o": ((1024,), mx.int32)},
        256,
        64,
    )
    at, n = np.arange(1024, dtype=np.uint32), np.array(size).astype(np.uint32)
    expected = np.where(at + n < 700, 1, 2) + np.where(at - np.uint32(300) < n, 4, 0)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("width", [3, 31, 32, 33, 64, 100])
def test_blur_with_clamped_borders(width: int, rng):
    height = 21
    image = rng.integers(0, 100, (height, width)).astype(np.int32)
    got = run_one(
        """
        int c = thread_position_in_grid.x, r = thread_position_in_grid.y;
        int sum = 0;
        for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j)
                sum += x[clamp(r + i, 0, x_shape[0] - 1) * x_shape[1] + clamp(c + j, 0, x_shape[1] - 1)];
        o[r * x_shape[1] + c] = sum;
        """,
        {"x": image},
        {"o": (image.shape, mx.int32)},
        (width, height, 1),
        (32, 8, 1),
    )
    padded = np.pad(image, 1, mode="edge")
    expected = sum(padded[i : i + height, j : j + width] for i in range(3) for j in range(3))
    np.testing.assert_array_equal(got, expected)


# The neighbours of column c of W, and of row r of H, where the image goes on at its other side.
TORUS = {
    "remainders": "int l = (c + W - 1) % W, R = (c + 1) % W, u = (r - 1 + H) % H, d = (r + 1) % H;",
    "unsigned": """
        uint l = (uint(c) + W - 1) % uint(W), R = (uint(c) + 1) % uint(W);
        uint u = (uint(r) + H - 1) % uint(H), d = (uint(r) + 1) % uint(H);""",
    "chosen": """
        int l = c == 0 ? W - 1 : c - 1, R = c == W - 1 ? 0 : c + 1;
        int u = r > 0 ? r - 1 : H - 1, d = r + 1 < H ? r + 1 : 0;""",
    "chosen later": """
        int l = c - 1, R = c + 1, u = r - 1, d = r + 1;
        if (l < 0) l += W;
        if (R >= W) R -= W;
        if (u < 0) u += H;
        if (d >= H) d -= H;""",
    "long": "long l = long(c + W - 1) % W, R = long(c + 1) % W, u = (r + H - 1) % H, d = (r + 1) % H;",
    "constants": "int l = (c + WW - 1) % WW, R = (c + 1) % WW, u = (r + HH - 1) % HH, d = (r + 1) % HH;",
    "bits": """
        int l = (c - 1) & (WW - 1), R = (c + 1) & (WW - 1);
        int u = (r - 1) & (HH - 1), d = (r + 1) & (HH - 1);""",
}
TORUS_SIZES = [(1, 1), (3, 2), (2, 31), (5, 64), (3, 128), (4, 129), (2, 1000), (4, 2048)]


@pytest.mark.parametrize("size", TORUS_SIZES)
@pytest.mark.parametrize("form", share(list(TORUS)))
def test_neighbours_on_a_torus(form: str, size: tuple[int, int], rng):
    height, width = size
    if form == "bits" and (height & height - 1 or width & width - 1):
        return
    image = rng.integers(0, 100, size).astype(np.int32)
    source = f"""
        int c = thread_position_in_grid.x, r = thread_position_in_grid.y;
        int H = x_shape[0], W = x_shape[1];
        {TORUS[form]}
        o[r * W + c] = x[r * W + l] + 2 * x[r * W + R] + 4 * x[u * W + c] + 8 * x[d * W + c];
    """
    for group in [(32, 8, 1), (100, 1, 1)]:
        got = run_one(
            source.replace("WW", str(width)).replace("HH", str(height)),
            {"x": image},
            {"o": (size, mx.int32)},
            (width, height, 1),
            group,
        )
        expected = (
            np.roll(image, 1, 1)
            + 2 * np.roll(image, -1, 1)
            + 4 * np.roll(image, 1, 0)
            + 8 * np.roll(image, -1, 0)
        )
        np.testing.assert_array_equal(got, expected)


SIZES = [-7, -1, 500, 2**30, 2**30 + 200, 2**31 - 1, 2**31 - 300]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_remainders_of_unusual_sizes(size: int, constant: bool):
    """Remainders have the sign of the index, whatever that of the size; sums wrap around."""
    got = run_kernel(
        f"""
        uint i = thread_position_in_grid.x;
        int m = {size if constant else "n[0]"};
        o[i] = x[int(i - 300) % m & 1023] + 1024 * x[int(i - 299 + uint(m)) % m & 1023];
        u[i] = x[(i + 300) % uint(m) & 1023] + 1024 * x[(i - 299 + uint(m)) % uint(m) & 1023];
        """,
        {"n": np.array([size], np.int32), "x": np.arange(1024, dtype=np.int32)},
        {"o": ((1000,), mx.int32), "u": ((1000,), mx.int32)},
        1000,
        100,
    )
    i = np.arange(1000)
    last = (i - 299 + size) % 2**32
    signed = np.fmod((last + 2**31) % 2**32 - 2**31, size)
    np.testing.assert_array_equal(got[0], (np.fmod(i - 300, size) & 1023) + 1024 * (signed & 1023))
    unsigned = size % 2**32
    np.testing.assert_array_equal(
        got[1], ((i + 300) % unsigned & 1023) + 1024 * (last % unsigned & 1023)
    )
