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
