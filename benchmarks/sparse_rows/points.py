"""Segments, distances and neighbours of points."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bench.native import library
from bench.row import Row

LARGEST_SHARE = 0.25  # of PyTorch's peak memory beyond arguments and results


# ---- segments ----


def segment_inputs(rows: int, segments: int, columns: int) -> dict:
    random = np.random.default_rng(0)
    lengths = random.multinomial(rows, np.ones(segments) / segments)
    return {
        "x": random.standard_normal((rows, columns), np.float32),
        "g": random.standard_normal((segments, columns), np.float32),
        "lengths": lengths,
        "index": np.repeat(np.arange(segments), lengths),
    }


def numpy_segments(a: dict, operation: str, shuffled: bool) -> dict:
    """Sums or maxima, and their gradients, in double precision; segment by segment of equal length."""
    rows, lengths = a["x"].astype(np.float64), a["lengths"]
    order = np.argsort(a["index"], kind="stable") if shuffled else np.arange(len(rows))
    starts = np.cumsum(lengths) - lengths
    out, gradient = np.zeros(a["g"].shape), np.zeros(rows.shape)
    for length in np.unique(lengths[lengths > 0]):
        chosen = np.flatnonzero(lengths == length)
        places = order[starts[chosen, None] + np.arange(length)]
        block, g = rows[places], a["g"][chosen][:, None].astype(np.float64)
        if operation == "max":
            out[chosen] = block.max(1)
            holds = block == block.max(1, keepdims=True)
            gradient[places] = g * holds / holds.sum(1, keepdims=True)
        else:
            out[chosen] = block.sum(1)
            gradient[places] = g
    return {"out": out, "x_grad": gradient}


def torch_segments(operation: str, backward: bool, shuffled: bool) -> Callable:
    def ways(torch, x, g, lengths, index) -> list:
        shape = g.shape
        wide = index[:, None].expand(-1, shape[1])

        def by_lengths(v):
            return torch.segment_reduce(v, operation, lengths=lengths, unsafe=True)

        def by_adding(v):
            return v.new_zeros(shape).index_add(0, index, v)

        def by_scattering(v):
            how = {"sum": "sum", "max": "amax"}[operation]
            return v.new_zeros(shape).scatter_reduce(0, wide, v, how, include_self=False)

        def run(function: Callable):
            if not backward:
                with torch.no_grad():
                    return function(x)
            leaf = x.detach().requires_grad_()
            out = function(leaf)
            return [out, *torch.autograd.grad(out, leaf, g)]

        chosen = [by_scattering] + ([by_adding] if operation == "sum" else [])
        return [lambda f=f: run(f) for f in chosen + ([] if shuffled else [by_lengths])]

    return ways


def segments(shape: tuple, operation: str, backward: bool, shuffled: bool = False) -> Row:
    rows, count, columns = shape

    def inputs() -> dict:
        made = segment_inputs(*shape)
        if shuffled:
            made["index"] = np.random.default_rng(1).permutation(made["index"])
        return made

    def ours(mx, x, g, lengths, index) -> list:
        from mlx_sample_extensions import scatter, segment_reduce

        def run(v):
            if shuffled:
                return scatter(v, index, 0, count, operation)
            return segment_reduce(v, lengths, operation)

        if not backward:
            return [run(x)]
        (out,), (gradient,) = mx.vjp(run, [x], [g])
        return [out, gradient]

    outputs = {"out": ((count, columns), "float32")}
    if backward:
        outputs |= {"x_grad": ((rows, columns), "float32")}
    name = f"{'scatter' if shuffled else 'segment'} {operation}{' grads' if backward else ''}"

    def reference(a: dict) -> dict:
        results = numpy_segments(a, operation, shuffled)
        return {key: results[key] for key in outputs}

    row_bytes = 4 * rows * columns
    return Row(
        name=f"{name} {rows}x{columns} in {count}",
        inputs=inputs,
        outputs=outputs,
        reference=reference,
        array=ours,
        torch=torch_segments(operation, backward, shuffled),
        moved=row_bytes * (1 + backward * (2 if operation == "max" else 1)),
        rtol=1e-4,
        atol=1e-4,
        targets={"PyTorch": 1.0, "kept": 1.0},
    )


# ---- distances ----


def numpy_distances(a: dict, backward: bool) -> dict:
    """A block of rows at a time, in double precision."""
    x, y, g = (a[name].astype(np.float64) for name in ("x", "y", "g"))
    results = {"out": np.empty(g.shape)}
    if backward:
        results |= {"x_grad": np.empty(x.shape), "y_grad": np.zeros(y.shape)}
    for first in range(0, len(x), 64):
        rows = slice(first, first + 64)
        difference = x[rows, None] - y[None]
        d = np.sqrt((difference**2).sum(-1))
        results["out"][rows] = d
        if backward:
            pull = difference * (g[rows] / d)[..., None]
            results["x_grad"][rows] = pull.sum(1)
            results["y_grad"] -= pull.sum(0)
    return results


def distances(count: int, dims: int, backward: bool) -> Row:
    outputs = {"out": ((count, count), "float32")}
    if backward:
        outputs |= {name: ((count, dims), "float32") for name in ("x_grad", "y_grad")}

    def inputs() -> dict:
        random = np.random.default_rng(0)
        shapes = {"x": (count, dims), "y": (count, dims), "g": (count, count)}
        return {k: random.standard_normal(shape, np.float32) for k, shape in shapes.items()}

    def ours(mx, x, y, g) -> list:
        from mlx_sample_extensions import indexed_distance

        if not backward:
            return [indexed_distance(x, y)]
        (out,), gradients = mx.vjp(indexed_distance, [x, y], [g])
        return [out, *gradients]

    def theirs(torch, x, y, g) -> list:
        def run(mode: str):
            if not backward:
                with torch.no_grad():
                    return torch.cdist(x, y, compute_mode=mode)
            leaves = [v.detach().requires_grad_() for v in (x, y)]
            out = torch.cdist(*leaves, compute_mode=mode)
            return [out, *torch.autograd.grad(out, leaves, g)]

        modes = ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
        return [lambda m=m: run(m) for m in modes]

    return Row(
        name=f"distance{' grads' if backward else ''} {count}x{count}x{dims}",
        inputs=inputs,
        outputs=outputs,
        reference=lambda a: numpy_distances(a, backward),
        array=ours,
        torch=theirs,
        flops=(3 if backward else 1) * 3 * count * count * dims if dims > 8 else 0,
        moved=4 * count * count * (3 if backward else 1),
        rtol=1e-3,
        atol=3e-2 if backward else 2e-3,
        targets={"PyTorch": 1.0, "kept": 1.0},
        memory=None if backward else LARGEST_SHARE,
    )


# ---- neighbours ----


def nanoflann_search(points: np.ndarray, k: int, leaf_points: int) -> list[np.ndarray]:
    count, dims = points.shape
    indices, distances = np.empty((count, k), np.int32), np.empty((count, k), np.float32)
    sizes = [ctypes.c_size_t(v) for v in (count, dims, k)]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (points, indices, distances)]
    threads = len(os.sched_getaffinity(0))
    code = library(Path(__file__).with_name("nanoflann.cpp"))
    code.nearest(pointers[0], *sizes, leaf_points, threads, *pointers[1:])
    return [distances, indices]


def neighbors(count: int, dims: int, k: int) -> Row:
    def inputs() -> dict:
        return {"points": np.random.default_rng(0).random((count, dims), np.float32)}

    def reference(a: dict) -> dict:
        from scipy.spatial import cKDTree

        found, at = cKDTree(a["points"].astype(np.float64)).query(a["points"], k)
        return {"distances": found, "indices": at}

    def ours(mx, points) -> list:
        from mlx_sample_extensions import knn

        at, found, _ = knn(points, points, k)
        return [found, at]

    def theirs(points) -> list:
        from scipy.spatial import cKDTree

        cores = len(os.sched_getaffinity(0))
        return [lambda: cKDTree(points).query(points, k, workers=cores)]

    def by_nanoflann(points) -> list:
        return [lambda n=n: nanoflann_search(points, k, n) for n in (10, 25, 50)]

    return Row(
        name=f"knn {count}x{dims}, k {k}",
        inputs=inputs,
        outputs={
            "distances": ((count, k), "float32"),
            "indices": ((count, k), "int32"),
        },
        reference=reference,
        array=ours,
        scipy=theirs,
        nanoflann=by_nanoflann,
        moved=4 * count * (dims + 2 * k),
        rtol=1e-5,
        atol=1e-6,
        wrong_share=1e-4,  # ties to the last bit
        targets={"SciPy": 1.0, "nanoflann": 1.0},
    )


def rows(small: bool) -> list[Row]:
    shape = (20_000, 1_000, 64) if small else (1_000_000, 50_000, 64)
    pairs = [(500, 3), (300, 64)] if small else [(8_000, 3), (4_000, 64)]
    return [
        *(segments(shape, op, back) for op in ("sum", "max") for back in (False, True)),
        *(segments(shape, "sum", back, shuffled=True) for back in (False, True)),
        *(distances(*pair, back) for pair in pairs for back in (False, True)),
        neighbors(2_000 if small else 100_000, 3, 16),
        neighbors(500 if small else 4_000, 64, 20),  # of features, as dynamic graphs have
    ]
