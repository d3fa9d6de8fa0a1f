"""The example's kernel with its gradient rule, and the operation, at the porting guide's sizes."""

import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import products
import pytest
from mlx_sample_extensions import (
    mvmr,
    sparse_matrix_vector_multiplication_reduction,
    sparse_vector_vector_outer_product_reduction,
    vvor,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))
import sparse_products as example  # noqa: E402

T, G, M, C, K = 100, 8, 16, 32, 64


def test_aliases():
    assert mvmr is sparse_matrix_vector_multiplication_reduction
    assert vvor is sparse_vector_vector_outer_product_reduction


@pytest.fixture
def data(rng) -> dict:
    return {
        "a": rng.standard_normal((T, G, M, C)).astype(np.float32),
        "b": rng.standard_normal((K, G, C)).astype(np.float32),
        "b_idx": rng.integers(0, K, T),
        "o_idx": rng.integers(0, K, T),
    }


def test_mvmr_correctness(data):
    """A matrix for each entry."""
    a, b, b_idx, o_idx = (mx.array(data[name]) for name in ("a", "b", "b_idx", "o_idx"))
    wanted = products.mvmr(data["a"], None, data["b"], data["b_idx"], data["o_idx"], K)
    operation = sparse_matrix_vector_multiplication_reduction(a, None, b, b_idx, o_idx, K)
    kernel = example.mvmr_by_kernel(a, mx.arange(T), b, b_idx, o_idx, K)
    for got in (operation, kernel):
        assert np.abs(np.array(got) - wanted).max() < 1e-4


@pytest.mark.torch
def test_mvmr_correctness_against_torch(data, torch):
    a, b, b_idx, o_idx = (torch.from_numpy(data[name]) for name in ("a", "b", "b_idx", "o_idx"))
    wanted = torch.zeros(K, G, M)
    for t in range(T):
        wanted[o_idx[t]] += torch.einsum("gmc,gc->gm", a[t], b[b_idx[t]])
    got = mvmr(
        mx.array(data["a"]),
        None,
        mx.array(data["b"]),
        mx.array(data["b_idx"]),
        mx.array(data["o_idx"]),
        K,
    )
    assert np.abs(np.array(got) - wanted.numpy()).max() < 1e-4


def test_gradient_flow():
    """Without indices of a and b: entry t has matrix t and vector t."""
    a = mx.random.normal((100, 8, 16, 32))
    b = mx.random.normal((100, 8, 32))
    o_idx = mx.random.randint(0, 10, (100,))
    grad_a = mx.grad(lambda x: mvmr(x, None, b, None, o_idx, 10).sum())(a)
    assert grad_a.shape == a.shape
    assert mx.allclose(grad_a, mx.broadcast_to(b[:, :, None, :], a.shape), atol=1e-5).item()


def test_rule_of_the_kernel(rng):
    a_idx, b_idx, o_idx = (rng.integers(0, n, 60) for n in (5, 9, 7))
    a = rng.standard_normal((5, 2, 4, 6)).astype(np.float32)
    b = rng.standard_normal((9, 2, 6)).astype(np.float32)
    g = rng.standard_normal((7, 2, 4)).astype(np.float32)
    function = example.differentiable_mvmr(*map(mx.array, (a_idx, b_idx, o_idx)), 7)
    (out,), grads = mx.vjp(function, [mx.array(a), mx.array(b)], [mx.array(g)])
    wanted = products.mvmr(a, a_idx, b, b_idx, o_idx, 7)
    assert np.abs(np.array(out) - wanted).max() < 1e-4
    for got, want in zip(grads, products.mvmr_gradients(a, a_idx, b, b_idx, o_idx, g)):
        assert np.abs(np.array(got) - want).max() < 1e-4
