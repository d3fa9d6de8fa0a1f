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
