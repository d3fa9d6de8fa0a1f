"""float32 products large enough for code of their own, against double precision.

Errors are relative to the product of the magnitudes: rounding grows with the number of terms, which
the tolerance allows for.
"""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TOLERANCE = 2e-6


def made(rng, rows, columns, transposed):
    """A matrix, and the array that stands for it: a transposed view, or one with longer rows."""
    if transposed:
        numbers = rng.standard_normal((columns, rows)).astype(np.float32)
        return numbers.T, mx.array(numbers).T
    numbers = rng.standard_normal((rows, columns + 3)).astype(np.float32)
    return numbers[:, 1:-2], mx.array(numbers)[:, 1:-2]


def check(got, a, b, added=0.0):
    a, b = a.astype(np.float64), b.astype(np.float64)
    scale = np.abs(a) @ np.abs(b) + np.abs(added)
    assert (np.abs(np.array(got) - (a @ b + added)) <= TOLERANCE * scale).all()


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_products(data):
    m = data.draw(st.sampled_from([192, 200, 511, 512, 513, 800, 1030]))
    n = data.draw(st.sampled_from([512, 513, 640, 1001, 1500]))
    k = data.draw(st.sampled_from([192, 255, 600, 1027]))
    k = max(k, -(-(1 << 28) // (m * n)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    a, left = made(rng, m, k, data.draw(st.booleans()))
    b, right = made(rng, k, n, data.draw(st.booleans()))
    check(left @ right, a, b)
    if data.draw(st.booleans()):
        c = rng.standard_normal((m, n)).astype(np.float32)
        check(mx.addmm(mx.array(c), left, right, alpha=1.0, beta=-2.0), a, b, -2.0 * c)


def test_magnitudes_of_all_kinds(rng):
    a = rng.standard_normal((600, 700)) * 10.0 ** rng.uniform(-15, 15, (600, 1))
    b = rng.standard_normal((700, 700)) * 10.0 ** rng.uniform(-6, 6, (700, 700))
    a, b = a.astype(np.float32), b.astype(np.float32)
    a[:, 7], b[9], a[11], b[:, 13] = 0, 0, 0, 0
    check(mx.array(a) @ mx.array(b), a, b)


@pytest.mark.parametrize("factor", [1e-36, 1e36])
def test_rows_and_columns_at_the_ends_of_the_range(rng, factor):
    a = rng.uniform(-1, 1, (600, 700)).astype(np.float32)
    b = rng.uniform(-1, 1, (700, 700)).astype(np.float32)
    a[5] *= np.float32(factor)
    b[:, 600] *= np.float32(factor)
    a[6], a[6, 0] = 0, 3.39e38
    with np.errstate(over="ignore", under="ignore"):
        got, scale = np.array(mx.array(a) @ mx.array(b)), np.abs(a) @ np.abs(b).astype(np.float64)
    error = np.abs(got - a.astype(np.float64) @ b)
    error[5:7, 600] = 0  # overflow, or are less than the smallest float32
    assert (error <= TOLERANCE * scale).all()


def test_numbers_that_are_not_finite(rng):
    a = rng.standard_normal((700, 600)).astype(np.float32)
    b = rng.standard_normal((600, 700)).astype(np.float32)
    a[3, 5], a[600, 0], b[17, 699], b[599, 300] = np.inf, np.nan, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        want = a.astype(np.float64) @ b
    got = np.array(mx.array(a) @ mx.array(b))
    assert np.array_equal(np.isnan(got), np.isnan(want))
    infinite = np.isinf(want)
    assert np.array_equal(got[infinite], want[infinite]) and infinite.sum() > 1000
    finite = np.isfinite(want)
    assert (np.abs(got[finite] - want[finite]) <= 1e-3).all()


def test_a_row_does_not_depend_on_other_rows_on_the_cpu(rng):
    a, b = rng.standard_normal((1024, 600)), rng.standard_normal((600, 1024))
    b = mx.array(b.astype(np.float32))
    a = mx.array(a.astype(np.float32))
    whole = mx.matmul(a, b, stream=mx.cpu)
    for first, last in [(0, 512), (100, 1000), (512, 1024)]:
        assert mx.array_equal(whole[first:last], mx.matmul(a[first:last], b, stream=mx.cpu))


def test_gradients(rng):
    a = mx.array(rng.standard_normal((700, 600)).astype(np.float32))
    b = mx.array(rng.standard_normal((600, 700)).astype(np.float32))
    c = mx.array(rng.standard_normal((700, 700)).astype(np.float32))
    of_a, of_b = mx.grad(lambda a, b: ((a @ b) * c).sum(), argnums=(0, 1))(a, b)
    check(of_a, np.array(c), np.array(b).T)
    check(of_b, np.array(a).T, np.array(c))
