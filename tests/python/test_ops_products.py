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
