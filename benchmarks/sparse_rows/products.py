"""Sums of products of indexed matrices and vectors, in the shapes of PointCNN++'s layers."""

import math
from collections.abc import Callable

import numpy as np
from bench.row import Row

# The numbers of matrices, entries, groups, outputs, inputs; a point has about eight neighbours.
SHAPES = [(27, 6_500, 1, 256, 256), (27, 200_000, 1, 64, 64), (27, 50_000, 8, 16, 16)]
SMALL = [(5, 300, 1, 32, 32), (5, 900, 2, 16, 16)]
NEIGHBOURS = 8
LARGEST_SHARE = 0.25  # of PyTorch's peak memory


def inputs(matrices: int, entries: int, groups: int, m: int, c: int) -> dict:
    """Everything in float32 and int64; gradients of results are inputs too."""
    random = np.random.default_rng(0)
    points = entries // NEIGHBOURS

    def values(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, np.float32) / np.float32(math.sqrt(c))

    return {
        "a": values(matrices, groups, m, c),
        "b": values(points, groups, c),
        "g": values(points, groups, m),
        "a_idx": random.integers(0, matrices, entries),
        "b_idx": random.integers(0, points, entries),
        "o_idx": random.integers(0, points, entries),
    }


def chosen(a_idx: np.ndarray, matrices: int) -> list[np.ndarray]:
    return [np.flatnonzero(a_idx == k) for k in range(matrices)]


def numpy_products(x: dict) -> dict:
    """The sum, and its gradients for the cotangent g, in double precision by matrix."""
    a, b, g = (x[name].astype(np.float64) for name in "abg")
    out, a_grad, b_grad = np.zeros(g.shape), np.zeros(a.shape), np.zeros(b.shape)
    for k, entries in enumerate(chosen(x["a_idx"], len(a))):
        for j in range(a.shape[1]):
            rows, targets = x["b_idx"][entries], x["o_idx"][entries]
            np.add.at(out[:, j], targets, b[rows, j] @ a[k, j].T)
            np.add.at(b_grad[:, j], rows, g[targets, j] @ a[k, j])
            a_grad[k, j] = g[targets, j].T @ b[rows, j]
    return {"out": out, "a_grad": a_grad, "b_grad": b_grad}


def by_mask(torch, a_idx, matrices: int) -> list:
    return [(a_idx == k).nonzero().squeeze(1) for k in range(matrices)]


def by_sorting(torch, a_idx, matrices: int) -> list:
    order = a_idx.argsort()
    return order.split(torch.bincount(a_idx, minlength=matrices).tolist())


def torch_mvmr(torch, select: Callable, a, a_idx, b, b_idx, o_idx, n_o: int):
    """A loop over the matrices: gather, multiply, add to the rows."""
    groups, m = a.shape[1:3]
    out = b.new_zeros(n_o, groups, m)
    for k, entries in enumerate(select(torch, a_idx, len(a))):
        rows = b.index_select(0, b_idx[entries])
        if groups == 1:
            product = (rows[:, 0] @ a[k, 0].T)[:, None]
        else:
            product = torch.einsum("tgc,gmc->tgm", rows, a[k])
        out.index_add_(0, o_idx[entries], product)
    return out


def torch_vvor(torch, select: Callable, a, a_idx, b, b_idx, o_idx, n_o: int):
    """The same loop over the rows of the result."""
    sums = []
    for entries in select(torch, o_idx, n_o):
        left, right = a.index_select(0, a_idx[entries]), b.index_select(0, b_idx[entries])
        if a.shape[1] == 1:
            sums.append((left[:, 0].T @ right[:, 0])[None])
        else:
            sums.append(torch.einsum("tgm,tgc->gmc", left, right))
    return torch.stack(sums)


def torch_ways(operation: Callable, backward: bool, cotangent: str | None = None) -> Callable:
    """The function `operation(torch, select, tensors)` with both ways to select."""

    def ways(torch, **x) -> list:
        def run(select: Callable):
            if not backward:
                with torch.no_grad():
                    return operation(torch, select, x)
            leaves = {k: v.detach().requires_grad_() for k, v in x.items() if k in "abg"}
            out = operation(torch, select, x | leaves)
            used = [leaves[k] for k in ("ab" if cotangent == "g" else "gb")]
            return [out, *torch.autograd.grad(out, used, x[cotangent])]

        return [lambda s=select: run(s) for select in (by_mask, by_sorting)]

    return ways


def mvmr(shape: tuple[int, ...], backward: bool) -> Row:
    matrices, entries, groups, m, c = shape
    points = entries // NEIGHBOURS
    outputs = {"out": ((points, groups, m), "float32")}
    if backward:
        outputs |= {"a_grad": ((matrices, groups, m, c), "float32")}
        outputs |= {"b_grad": ((points, groups, c), "float32")}

    def ours(mx, a, b, g, a_idx, b_idx, o_idx) -> list:
        from mlx_sample_extensions import mvmr

        def run(a, b):
            return mvmr(a, a_idx, b, b_idx, o_idx, points)

        if not backward:
            return [run(a, b)]
        (out,), grads = mx.vjp(run, [a, b], [g])
        return [out, *grads]

    def theirs(torch, select, x: dict):
        return torch_mvmr(torch, select, x["a"], x["a_idx"], x["b"], x["b_idx"], x["o_idx"], points)

    return row("mvmr", shape, backward, outputs, ours, torch_ways(theirs, backward, "g"))


def vvor(shape: tuple[int, ...], backward: bool) -> Row:
    """The gradient of a as an operation: rows of g and b, added by matrix; a is its cotangent."""
    matrices, entries, groups, m, c = shape
    points = entries // NEIGHBOURS
    outputs = {"a_grad": ((matrices, groups, m, c), "float32")}
    if backward:
        outputs |= {"g_grad": ((points, groups, m), "float32")}
        outputs |= {"b_grad": ((points, groups, c), "float32")}

    def ours(mx, a, b, g, a_idx, b_idx, o_idx) -> list:
        from mlx_sample_extensions import vvor

        def run(g, b):
            return vvor(g, o_idx, b, b_idx, a_idx, matrices)

        if not backward:
            return [run(g, b)]
        (out,), grads = mx.vjp(run, [g, b], [a])
        return [out, *grads]

    def theirs(torch, select, x: dict):
        return torch_vvor(
            torch, select, x["g"], x["o_idx"], x["b"], x["b_idx"], x["a_idx"], matrices
        )

    return row("vvor", shape, backward, outputs, ours, torch_ways(theirs, backward, "a"))


def row(
    name: str, shape: tuple[int, ...], backward: bool, outputs: dict, ours: Callable, ways: Callable
) -> Row:
    def reference(x: dict) -> dict:
        results = numpy_products(x)
        results["g_grad"] = results["out"]  # of vvor, where a is the cotangent
        return {key: results[key] for key in outputs}

    matrices, entries, groups, m, c = shape
    return Row(
        name=f"{name}{' grads' if backward else ''} {'x'.join(map(str, shape))}",
        inputs=lambda: inputs(*shape),
        outputs=outputs,
        reference=reference,
        array=ours,
        torch=ways,
        flops=(3 if backward else 1) * 2 * entries * groups * m * c,
        rtol=1e-4,
        atol=1e-4,
        targets={"PyTorch": 1.0, "kept": 1.0},
        memory=LARGEST_SHARE,
    )


def rows(small: bool) -> list[Row]:
    return [
        make(shape, backward)
        for shape in (SMALL if small else SHAPES)
        for make in (mvmr, vvor)
        for backward in (False, True)
    ]
