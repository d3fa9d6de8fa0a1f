"""Products of vectors and matrices, and the SVD, against NumPy in double precision."""

import mlx.core as mx
import numpy as np
import pytest
from test_ops import RNG, SIGNED, UNIT, close


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 5), (5, 6)),
        ((5,), (5, 6)),
        ((4, 5), (5,)),
        ((5,), (5,)),
        ((2, 4, 5), (5, 6)),
        ((2, 1, 4, 5), (3, 5, 6)),
        ((65, 130), (130, 67)),
    ],
)
def test_matmul(left, right):
    x, y = RNG.normal(size=left).astype(np.float32), RNG.normal(size=right).astype(np.float32)
    close(mx.array(x) @ mx.array(y), x.astype(np.float64) @ y, 1e-4, 1e-4)
    close(
        mx.matmul(mx.array(x).astype(mx.float16), mx.array(y).astype(mx.float16)),
        x.astype(np.float64) @ y,
        2e-2,
        5e-2,
    )


@pytest.mark.parametrize("shape", [(130, 70, 150), (20, 300, 400), (700, 5, 600), (257, 129, 65)])
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_large_products(shape, transposed):
    """Another library multiplies them."""
    m, n, k = shape
    x, y, c = (RNG.normal(size=size).astype(np.float32) for size in [(m, k), (k, n), (m, n)])
    a = mx.array(np.ascontiguousarray(x.T)).T if "a" in transposed else mx.array(x)
    b = mx.array(np.ascontiguousarray(y.T)).T if "b" in transposed else mx.array(y)
    product = x.astype(np.float64) @ y
    close(a @ b, product, 1e-4, 1e-3)
    close(mx.addmm(mx.array(c), a, b, alpha=0.5, beta=-2.0), product / 2 - 2 * c, 1e-4, 1e-3)
    a = mx.array(x).at[0, 0].add(float("nan"))
    np.testing.assert_array_equal(np.isnan(np.array(a @ b)).all(1), np.arange(m) == 0)


def test_products():
    x, y = SIGNED[0], UNIT[0]
    a, b = mx.array(x), mx.array(y)
    close(a @ b.T, x @ y.T, 1e-4, 1e-5)
    close(mx.addmm(mx.ones((4, 4)), a, b.T, alpha=2.0, beta=3.0), 2 * x @ y.T + 3, 1e-4, 1e-5)
    close(mx.inner(a, b), np.inner(x, y), 1e-4, 1e-5)
    close(mx.outer(a, b), np.outer(x, y), 1e-4, 1e-5)
    close(mx.vecdot(a, b), (x * y).sum(-1), 1e-4, 1e-5)
    close(mx.kron(a, b), np.kron(x, y), 1e-4, 1e-5)
    close(mx.tensordot(a, b, 2), np.tensordot(x, y, 2), 1e-4, 1e-5)
    close(mx.tensordot(a, b, [[0], [0]]), np.tensordot(x, y, [[0], [0]]), 1e-4, 1e-5)
    close(mx.einsum("ij,kj->ki", a, b), np.einsum("ij,kj->ki", x, y), 1e-4, 1e-5)
    close(mx.einsum("ii->i", mx.array(x[:, :4])), np.einsum("ii->i", x[:, :4]))
    path, text = mx.einsum_path("ij,jk,kl", a, b.T, a)
    assert path and isinstance(text, str)


def test_svd():
    u, s, vt = mx.linalg.svd(mx.array(SIGNED[0]))
    assert u.shape == (4, 4) and s.shape == (4,) and vt.shape == (5, 5)
    close((u * s) @ vt[:4], SIGNED[0], 1e-4, 1e-4)
    close(
        mx.linalg.svd(mx.array(SIGNED[0]), compute_uv=False),
        np.linalg.svd(SIGNED[0].astype(np.float64), compute_uv=False),
        1e-4,
    )


@pytest.mark.parametrize("inner", [1, 7, 32, 129, 1000])
def test_a_vector_meets_each_of_a_few_rows_alone(inner: int, rng: np.random.Generator):
    """So that a text gives the same numbers in chunks of any length."""
    a = mx.array(rng.standard_normal((32, inner)), dtype=mx.float32)
    b = mx.array(rng.standard_normal((1, inner)), dtype=mx.float32)
    with mx.stream(mx.cpu):
        whole = a @ b.T
        for rows in (2, 3, 4, 5, 17, 31):
            assert mx.array_equal(a[:rows] @ b.T, whole[:rows])
            assert mx.array_equal(a[32 - rows :] @ b.T, whole[32 - rows :])
        sum_and_product = mx.addmm(a[:5, :1], a[:5], b.T, alpha=2.0, beta=0.5)
    expected = 2 * np.array(a[:5], np.float64) @ np.array(b.T) + np.array(a[:5, :1]) / 2
    assert np.abs(np.array(sum_and_product) - expected).max() < 1e-4 * inner**0.5
