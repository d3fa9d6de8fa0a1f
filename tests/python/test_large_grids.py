"""Kernels with a thread for each of a million elements, of which a thread of a GPU may run several."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

SIZES = [1 << 20, (1 << 20) + 1, (1 << 20) + 13]

TYPES = {
    "uchar": mx.uint8,
    "short": mx.int16,
    "half": mx.float16,
    "bfloat": mx.bfloat16,
    "float": mx.float32,
    "int": mx.int32,
    "long": mx.int64,
}

# Each computes y[i] = 2 * x[i] + w[3] for the threads below n.
BODIES = {
    "plain": "uint i = thread_position_in_grid.x; y[i] = x[i] * T(2) + w[3];",
    "guard": "uint i = thread_position_in_grid.x; if (i < n[0]) y[i] = x[i] * T(2) + w[3];",
    "early return": "uint i = thread_position_in_grid.x; if (i >= n[0]) return; y[i] = x[i] * T(2) + w[3];",
    "signed guard": "int i = thread_position_in_grid.x; if (i >= int(n[0])) return; y[i] = x[i] * T(2) + w[3];",
    "apart": "uint i = thread_position_in_grid.x ^ 1u; if (i < n[0]) y[i] = x[i] * T(2) + w[3];",
    "grid": "uint i = thread_position_in_grid.x; if (i < threads_per_grid.x) y[i] = x[i] * T(2) + w[3];",
    "other array": "uint i = thread_position_in_grid.x; y[i] = x[i] * T(2); if (i < n[0]) y[i] += w[3];",
}
GUARDED = {"guard", "early return", "signed guard", "apart"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("form", BODIES)
def test_elements(rng: np.random.Generator, form: str, name: str, size: int):
    x = mx.array(rng.integers(0, 60, size)).astype(TYPES[name])
    w = mx.array([5, 6, 7, 8]).astype(TYPES[name])
    limit = size - 101 if form in GUARDED else size
    inputs = {"x": x, "w": w}
    if "n[0]" in BODIES[form]:
        inputs["n"] = mx.array([limit], mx.uint32)
    got = run_one(
        BODIES[form],
        inputs,
        {"y": ((size,), TYPES[name])},
        size + (size % 2 if form == "apart" else 0),
        256,
        init_value=1,
        template=[("T", TYPES[name])],
    )
    expected = np.array(x.astype(mx.float32)) * 2 + 8
    expected[limit:] = 1
    np.testing.assert_array_equal(got, expected)


def test_planes(rng: np.random.Generator):
    """Positions in y and z, and a row whose length is no multiple of what a thread takes."""
    x = rng.integers(0, 100, (3, 5, 77777)).astype(np.float32)
    body = """
        uint3 at = thread_position_in_grid, n = threads_per_grid;
        const device T* row = x + (at.z * n.y + at.y) * n.x;
        device T* to = y + (at.z * n.y + at.y) * n.x;
        to[at.x] = row[at.x] + T(at.y) + T(10 * at.z);
    """
    got = run_one(
        body,
        {"x": mx.array(x).astype(mx.float16)},
        {"y": (x.shape, mx.float16)},
        (77777, 5, 3),
        (128, 2, 1),
        template=[("T", mx.float16)],
    )
    expected = x + np.arange(5)[:, None] + 10 * np.arange(3)[:, None, None]
    np.testing.assert_array_equal(got, expected)


def test_views_at_odd_addresses(rng: np.random.Generator):
    x = rng.integers(0, 100, (1 << 20) + 9).astype(np.int16)
    for first in (0, 1, 3, 8):
        got = run_one(
            "uint i = thread_position_in_grid.x; y[i] = x[i] + 1;",
            {"x": mx.array(x)[first:]},
            {"y": ((len(x) - first,), mx.int16)},
            len(x) - first,
            256,
        )
        np.testing.assert_array_equal(got, x[first:] + 1)


def of_exponential(a: np.ndarray) -> np.ndarray:
    return np.where(a > 0.5, np.log(np.maximum(a, 0.1) * 8), a)


# Each takes and gives floats; the numbers are from -3 to 3, and some are large.
BRANCHES = {
    "sine": ("y[i] = sin(x[i]);", np.sin),
    "sine below a limit": ("if (i >= n[0]) return; y[i] = sin(x[i]);", np.sin),
    "two in turn": (
        "float a = x[i] * 2; y[i] = sin(x[i]) + cos(a);",
        lambda x: np.sin(x) + np.cos(x * 2),
    ),
    "one in another": (
        "float a = x[i]; if (a > 0) { a = exp(-a); if (a > 0.5f) a = log(a * w[3]); } y[i] = a;",
        lambda x: np.where(x > 0, of_exponential(np.exp(-np.maximum(x, 0))), x),
    ),
    "a switch": (
        "float a = x[i]; switch (int(a)) { case 0: a = exp(a); break; case 1: a = sin(a); break;"
        " case -1: a = tan(a); default: a += 1; } y[i] = a;",
        lambda x: np.select(
            [np.trunc(x) == 0, np.trunc(x) == 1, np.trunc(x) == -1],
            [np.exp(np.minimum(x, 2)), np.sin(x), np.tan(x) + 1],
            x + 1,
        ),
    ),
    "the same for all": (
        "float a = x[i]; if (w[3] > 2) a = exp(-abs(a)); else a = sin(a); y[i] = a;",
        lambda x: np.exp(-np.abs(x)),
    ),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", BRANCHES)
def test_branches(rng: np.random.Generator, form: str, size: int):
    body, reference = BRANCHES[form]
    numbers = rng.uniform(-3, 3, size).astype(np.float32)
    numbers[rng.integers(0, size, size // 1000)] *= 1e5
    limit = size - 101 if "limit" in form else size
    inputs = {"x": mx.array(numbers)}
    if "n[0]" in body:
        inputs["n"] = mx.array([limit], mx.uint32)
    if "w[3]" in body:
        inputs["w"] = mx.array([5.0, 6, 7, 8])
    got = run_one(
        "uint i = thread_position_in_grid.x; " + body,
        inputs,
        {"y": ((size,), mx.float32)},
        size,
        256,
        init_value=0,
    )
    want = np.where(np.arange(size) < limit, reference(numbers.astype(np.float64)), 0)
    assert np.allclose(np.array(got), want, 1e-4, 1e-4)


# How kernels count the elements of rows: each defines i from at, the position, and w, a row's length.
INDICES = {
    "uint": "uint i = at.y * w + at.x;",
    "int": "int i = int(at.y) * int(w) + int(at.x);",
    "long": "size_t i = size_t(at.y) * w + at.x;",
    "extended": "ulong i = at.y * w + at.x;",
    "from the end": "uint i = w * h - 1 - (at.y * w + at.x);",
    "row backwards": "int i = int(at.y * w) + int(w - 1 - at.x);",
    "through an index": "int row = rows[at.y]; uint i = uint(row) * w + at.x;",
}
GUARDS = {
    "none": "",
    "columns": "if (at.x >= w) return;",
    "both": "if (at.x >= w || at.y >= h) return;",
    "one after the other": "if (at.x >= w) return; if (h <= at.y) return;",
    "rows first": "if (at.y >= h) return; if (!(at.x < w)) return;",
    "last column": "if (at.x > W - 1) return;",
    "a row's own": "if (at.x >= w || rows[at.y] < 0) return;",
}


@pytest.mark.parametrize("width", [4096, 4099])
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("index", INDICES)
def test_rows(rng: np.random.Generator, index: str, guard: str, width: int):
    height, beyond = 257, 0 if guard == "none" else 13
    x = rng.integers(0, 100, (height, width)).astype(np.float32)
    body = (
        f"uint2 at = thread_position_in_grid.xy; {GUARDS[guard]} {INDICES[index]} y[i] = x[i] + 1;"
    )
    sizes = "const uint w = size[0], h = size[1]; "
    inputs = {"x": mx.array(x), "size": mx.array([width, height], mx.uint32)}
    rows = np.arange(height)
    if "rows" in body:
        rows = rng.permutation(height) if index == "through an index" else rows
        rows[rng.integers(0, height, 5)] = -1 if guard == "a row's own" else 7
        inputs["rows"] = mx.array(rows.astype(np.int32))
    got = run_one(
        sizes + body,
        inputs,
        {"y": ((height, width), mx.float32)},
        (width + beyond, height + (beyond if "h" in GUARDS[guard] else 0), 1),
        (256, 1, 1),
        init_value=0,
        template=[("W", width)],
    )
    written = np.zeros(height, bool)
    if guard == "a row's own" and index == "through an index":
        written[rows[rows >= 0]] = True
    elif guard == "a row's own":
        written = rows >= 0
        written = written[::-1] if index == "from the end" else written
    else:
        written[rows if index == "through an index" else ...] = True
    np.testing.assert_array_equal(got, np.where(written[:, None], x + 1, 0))


def test_an_index_that_may_change_is_read_again():
    """A store may write the number that an address is made of."""
    size = 1 << 20
    got = run_one(
        "uint i = thread_position_in_grid.x; y[i + 8] = 3; uint j = i + uint(y[i + 8]); y[j + 5] = 3;",
        {},
        {"y": ((size + 8,), mx.float32)},
        size,
        256,
        init_value=0,
    )
    np.testing.assert_array_equal(got, [0] * 8 + [3] * size)


@pytest.mark.gpu
@pytest.mark.parametrize("offset", [2**32 - 5, 2**32 - 8, 2**32 - 2**19 - 3])
@pytest.mark.parametrize(
    "index", ["uint j = i + OFFSET;", "ulong j = i + OFFSET;", "uint j = OFFSET - i;"]
)
def test_indices_that_wrap_around(index: str, offset: int):
    """Within the threads that may run at once, and between them; the array has 2^32 elements."""
    size = 1 << 20
    column, row = mx.arange(65536, dtype=mx.uint32), mx.arange(65536, dtype=mx.uint32)
    x = (column * 7).astype(mx.uint8) + (row * 31).astype(mx.uint8)[:, None]
    got = run_one(
        f"uint i = thread_position_in_grid.x; {index.replace('OFFSET', str(offset) + 'u')} y[i] = x[j];",
        {"x": x},
        {"y": ((size,), mx.uint8)},
        size,
        256,
    )
    i = np.arange(size, dtype=np.int64)
    j = (offset - i if "-" in index else offset + i) % 2**32
    np.testing.assert_array_equal(got, (j % 65536 * 7 + j // 65536 * 31) % 256)


# Loops of a thread over elements apart; each adds 1 to those from i on. g is the grid's size.
STRIDES = {
    "uint": "for (uint k = i; k < n; k += g) y[k] = x[k] + 1;",
    "int": "for (int k = i; k < int(n); k += g) y[k] = x[k] + 1;",
    "int of an int": "const int step = g; for (int k = i; k < int(n); k += step) y[k] = x[k] + 1;",
    "size_t": "for (size_t k = i; k < n; k += g) y[k] = x[k] + 1;",
    "up to the last": "for (uint k = i; k <= n - 1; k += g) y[k] = x[k] + 1;",
    "not beyond": "for (uint k = i; !(k >= n); k = g + k) y[k] = x[k] + 1;",
    "do while": "uint k = i; if (k < n) do { y[k] = x[k] + 1; k += g; } while (k < size[0]);",
    "pointers": "for (auto from = x + i; from < x + n; from += g) y[from - x] = *from + 1;",
    "a constant": "for (uint k = i; k < n; k += G) y[k] = x[k] + 1;",
    "with a branch": "for (uint k = i; k < n; k += g) { if (x[k] > 50) y[k] = x[k] + 1; else y[k] = x[k] + 1; }",
    "reads what it wrote": "for (uint k = i; k < n; k += g) { y[k] = x[k]; y[k] = y[k] + 1; }",
    "two arrays": "for (uint k = i; k < n; k += g) y[k] = x[k] + w[k % 4];",
    "vectors": "for (uint k = i; k < n / 4; k += g)"
    " ((device float4*)y)[k] = ((const device float4*)x)[k] + 1;"
    " if (i < n % 4) y[n / 4 * 4 + i] = x[n / 4 * 4 + i] + 1;",
}


@pytest.mark.parametrize("size", [1, 4096 * 5, 4096 * 5 + 77, 100_003])
@pytest.mark.parametrize("form", STRIDES)
def test_strides(rng: np.random.Generator, form: str, size: int):
    x = rng.integers(0, 100, size).astype(np.float32)
    inputs = {"x": mx.array(x), "size": mx.array([size], mx.uint32)}
    if "w[" in STRIDES[form]:
        inputs["w"] = mx.ones(4)
    got = run_one(
        "const uint i = thread_position_in_grid.x, g = threads_per_grid.x, n = size[0]; "
        + STRIDES[form],
        inputs,
        {"y": ((size,), mx.float32)},
        4096,
        256,
        template=[("G", 4096)],
    )
    np.testing.assert_array_equal(got, x + 1)


# Loops whose numbers wrap around, or that end at once. Each stores how often it has run.
WRAPS = {
    "past the end": ("for (uint k = 4294967200u; k >= 4294967200u; k += 7) count += x[k % 8];", 14),
    "to the end": (
        "for (uint k = 0; k < 4294967295u; k += 1 << 29) { count += x[k % 8]; if (count == 20) break; }",
        20,
    ),
    "a large stride": (
        "uint k = 5; do { count += x[k % 8]; k += step; } while (k < 4294967295u && count < 9);",
        9,
    ),
    "signed": (
        "int k = 2147483000; do { count += x[k & 7]; k = int(uint(k) + 500u); }"
        " while (k < 2147483647 && count < 9);",
        9,
    ),
    "at once": ("uint k = 9; do { count += x[k % 8]; k += 3; } while (k < 5);", 1),
    "up to the first": ("uint k = 9; do { count += x[k % 8]; k += 3; } while (k <= 12);", 2),
    "wraps once": ("uint k = 4294967290u; do { count += x[k % 8]; k += 8; } while (k < 20);", 4),
    "sums that wrap": ("uint k = step; do { count += x[k % 8]; k += step; } while (k < limit);", 2),
}


@pytest.mark.parametrize("form", WRAPS)
def test_loops_whose_numbers_wrap(form: str):
    body, expected = WRAPS[form]
    got = run_one(
        f"int count = 0; const uint step = numbers[0], limit = numbers[1]; {body}"
        " y[thread_position_in_grid.x] = count;",
        {"x": mx.ones(8, mx.int32), "numbers": mx.array([2**30, 2**31 + 5], mx.uint32)},
        {"y": ((64,), mx.int32)},
        64,
        32,
    )
    np.testing.assert_array_equal(got, expected)
