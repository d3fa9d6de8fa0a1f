"""Derivatives and batches of the sums of indexed products, against NumPy and PyTorch."""

import mlx.core as mx
import numpy as np
import products
import pytest
from mlx_sample_extensions import mvmr, vvor
from test_sparse_products import STREAMS, Problem, close


def arrays(problem: Problem) -> list[mx.array]:
    values = (problem.a, problem.b, problem.g, problem.a_idx, problem.b_idx, problem.o_idx)
    return [mx.array(x) for x in values]


@STREAMS
@pytest.mark.parametrize("missing", ["", "a", "b", "o"])
def test_gradients(rng, stream, missing):
    sizes = {"a": {"K": 60}, "b": {"N": 60}, "o": {"n_o": 60}}.get(missing, {})
    p = Problem(rng, T=60, **sizes)
    if missing:
        setattr(p, f"{missing}_idx", None)
    a, b, g = map(mx.array, (p.a, p.b, p.g))
    idx = [None if i is None else mx.array(i) for i in (p.a_idx, p.b_idx, p.o_idx)]
    wanted = products.mvmr_gradients(*p.mvmr[:-1], p.g)
    for transpose in (False, True):
        _, grads = mx.vjp(
            lambda a, b, t=transpose: mvmr(
                a.swapaxes(2, 3) if t else a,
                idx[0],
                b,
                *idx[1:],
                p.n_o,
                transpose=t,
                stream=stream,
            ),
            [a, b],
            [g],
        )
        for got, want in zip(grads, wanted):
            assert close(np.array(got), want)

    # vvor is linear in each argument: its gradients are products with the cotangent.
    _, grads = mx.vjp(
        lambda g, b: vvor(g, idx[2], b, idx[1], idx[0], len(p.a), stream=stream), [g, b], [a]
    )
    assert close(np.array(grads[0]), products.mvmr(*p.mvmr))
    assert close(np.array(grads[1]), wanted[1])


@STREAMS
def test_second_derivatives(rng, stream):
    """Second derivatives of a function that is quadratic in a and in b, beside dense operations."""
    p = Problem(rng, K=3, T=12, G=2, M=3, C=4, N=5, n_o=4)
    a, b, g, ia, ib, io = arrays(p)

    def sparse(a, b):
        return mvmr(a, ia, b, ib, io, p.n_o, stream=stream)

    def dense(a, b):
        each = (a[ia] * b[ib][:, :, None, :]).sum(-1)
        return mx.stack([(each * (io == o)[:, None, None]).sum(0) for o in range(p.n_o)])

    def curvature(function):
        def loss(a, b):
            return (g * function(a, b) ** 2).sum()

        def slope(a, b):
            by_a, by_b = mx.grad(loss, argnums=(0, 1))(a, b)
            return (by_a**2).sum() + (by_b**3).sum()

        return mx.grad(slope, argnums=(0, 1))(a, b)

    for got, want in zip(curvature(sparse), curvature(dense)):
        assert close(np.array(got), np.array(want), 1e-4)


@STREAMS
def test_jvp(rng, stream):
    p = Problem(rng)
    a, b, g, ia, ib, io = arrays(p)
    da, db = (rng.standard_normal(x.shape).astype(np.float32) for x in (p.a, p.b))

    def forward(a, b):
        return mvmr(a, ia, b, ib, io, p.n_o, stream=stream)

    _, (tangent,) = mx.jvp(forward, [a, b], [mx.array(da), mx.array(db)])
    rest = (p.b_idx, p.o_idx, p.n_o)
    wanted = products.mvmr(da, p.a_idx, p.b, *rest) + products.mvmr(p.a, p.a_idx, db, *rest)
    assert close(np.array(tangent), wanted)

    dg = rng.standard_normal(p.g.shape).astype(np.float32)
    _, (tangent,) = mx.jvp(
        lambda g: vvor(g, io, b, ib, ia, len(p.a), stream=stream), [g], [mx.array(dg)]
    )
    assert close(np.array(tangent), products.vvor(dg, *p.vvor[1:]))


@STREAMS
@pytest.mark.parametrize("mapped", ["a", "b", "ab", "i", "aij", "abijo", "o"])
def test_vmap(rng, stream, mapped):
    """Each argument with a mapped axis of its own, or without one."""
    problems = [Problem(rng, T=30) for _ in range(4)]
    axes = {"a": 2, "b": 1, "i": 0, "j": 1, "o": 0}
    values = {"a": "a", "b": "b", "i": "a_idx", "j": "b_idx", "o": "o_idx"}
    arguments, in_axes = [], []
    for name, attribute in values.items():
        each = [getattr(q, attribute) for q in problems]
        if name in mapped:
            arguments.append(mx.array(np.stack(each, axes[name])))
        else:
            arguments.append(mx.array(each[0]))
            for q in problems:
                setattr(q, attribute, each[0])
        in_axes.append(axes[name] if name in mapped else None)
    n_o = problems[0].n_o
    out = mx.vmap(
        lambda a, b, i, j, o: mvmr(a, i, b, j, o, n_o, stream=stream), in_axes=tuple(in_axes)
    )(*arguments)
    assert close(np.array(out), np.stack([products.mvmr(*q.mvmr) for q in problems]))


def test_vmap_without_indices_and_of_gradients(rng):
    a = rng.standard_normal((3, 6, 1, 4, 5)).astype(np.float32)
    b = rng.standard_normal((6, 1, 5)).astype(np.float32)
    o_idx = np.array([0, 1, 1, 0, 2, 2], np.int32)

    def forward(a, b):
        return mvmr(a, None, b, None, mx.array(o_idx), 3)

    out = mx.vmap(forward, in_axes=(0, None))(mx.array(a), mx.array(b))
    assert close(np.array(out), np.stack([products.mvmr(x, None, b, None, o_idx, 3) for x in a]))
    grads = mx.vmap(mx.grad(lambda a, b: forward(a, b).sum()), in_axes=(0, None))(
        mx.array(a), mx.array(b)
    )
    assert close(np.array(grads), np.broadcast_to(b[None, :, :, None, :], a.shape))


def test_vmap_over_outer_products(rng):
    problems = [Problem(rng, T=20) for _ in range(3)]
    g, b = (mx.array(np.stack([getattr(q, name) for q in problems])) for name in "gb")
    ia, ib, io = map(mx.array, (problems[0].a_idx, problems[0].b_idx, problems[0].o_idx))
    out = mx.vmap(lambda g, b: vvor(g, io, b, ib, ia, 3))(g, b)
    for got, q in zip(np.array(out), problems):
        q.a_idx, q.b_idx, q.o_idx = problems[0].a_idx, problems[0].b_idx, problems[0].o_idx
        assert close(got, products.vvor(*q.vvor))


def test_bad_indices_in_a_batch():
    a, b, idx = mx.ones((3, 1, 2, 2)), mx.ones((3, 1, 2)), mx.array([[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="b_idx: it holds 3"):
        mx.eval(mx.vmap(lambda i: mvmr(a, mx.array([0, 0]), b, i, mx.array([0, 0]), 1))(idx))


def test_indices_from_differentiated_values(rng):
    """Indices that depend on differentiated arrays have no derivative."""
    p = Problem(rng, T=9)
    a, b, _, ia, ib, io = arrays(p)
    scores = mx.array(rng.standard_normal(9).astype(np.float32))

    def loss(scores):
        order = mx.argsort(scores).astype(mx.int32)
        return (mvmr(a, ia, b, order, io, p.n_o) * scores.sum()).sum()

    assert mx.grad(loss)(scores).shape == (9,)


@pytest.mark.torch
@STREAMS
def test_against_autograd(rng, torch, stream):
    p = Problem(rng, K=4, T=300, G=2, M=24, C=40, N=30, n_o=25)
    a, b, g, ia, ib, io = arrays(p)
    tensors = [torch.from_numpy(x).double().requires_grad_() for x in (p.a, p.b)]
    index = [torch.from_numpy(x).long() for x in (p.a_idx, p.b_idx, p.o_idx)]
    each = torch.einsum("tgmc,tgc->tgm", tensors[0][index[0]], tensors[1][index[1]])
    out = torch.zeros(p.n_o, 2, 24, dtype=torch.float64).index_add(0, index[2], each)
    wanted = torch.autograd.grad(out, tensors, torch.from_numpy(p.g).double())
    (got,), grads = mx.vjp(lambda a, b: mvmr(a, ia, b, ib, io, p.n_o, stream=stream), [a, b], [g])
    assert close(np.array(got), out.detach().numpy())
    for have, want in zip(grads, wanted):
        assert close(np.array(have), want.numpy(), 5e-6)
