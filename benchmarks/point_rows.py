"""The rows of points.py: a layer and an encoder, with given neighbours."""

import importlib.util
from collections.abc import Callable

import numpy as np
from bench.row import Row

CELLS, NEIGHBOURS, CHANNELS = 27, 16, 64
LARGEST_SHARE = 0.25  # of PyTorch's peak memory
LEVELS = 3
EPS = 1e-5


# ---- points and their neighbours ----


def clouds_of(points: int):
    """Eight clouds of different sizes in unit cubes."""
    import mlx.core as mx
    from mlx_sample_extensions import PointCloudBatch

    random = np.random.default_rng(0)
    shares = random.uniform(0.5, 1.5, 8)
    lengths = np.floor(points * shares / shares.sum()).astype(np.int32)
    lengths[-1] += points - lengths.sum()
    positions = mx.array(random.random((points, 3), np.float32))
    return PointCloudBatch(positions, lengths=mx.array(lengths))


def layer():
    from mlx_sample_extensions.nn import PointConv

    return PointConv(CHANNELS, CHANNELS, CELLS, k=NEIGHBOURS, bias=False)


def arrays_of(tree) -> dict[str, np.ndarray]:
    """A tree of arrays as inputs of a row, in int64 as PyTorch needs indices."""
    from mlx.utils import tree_flatten

    flat = {name.replace(".", "_"): np.array(value) for name, value in tree_flatten(tree)}
    return {name: v.astype(np.int64) for name, v in flat.items()}


def neighborhood(found: dict, prefix: str, points: int):
    from mlx_sample_extensions.nn import Neighborhood

    parts = (found[f"{prefix}{name}"] for name in ("points", "queries", "lengths", "cells"))
    return Neighborhood(*parts, points, NEIGHBOURS, None)


# ---- one layer ----


def layer_inputs(points: int) -> dict:
    """Small numbers, but for the matrices: their gradient sums up to 300,000 products, and float32
    rounds by the size of the sum."""
    random = np.random.default_rng(1)
    shape = (CELLS, CHANNELS, CHANNELS)
    scale = np.float32(1 / np.sqrt(CHANNELS * NEIGHBOURS))
    return arrays_of(layer().neighborhood(clouds_of(points))) | {
        "weight": random.standard_normal(shape, np.float32) * scale,
        "x": random.standard_normal((points, CHANNELS), np.float32) / 16,
        "g": random.standard_normal((points, CHANNELS), np.float32) / 8,
    }


def numpy_layer(a: dict, backward: bool) -> dict:
    """Cell by cell in double precision; sparse matrices of ones add rows."""
    from scipy.sparse import csr_matrix

    x, weight, g = (a[name].astype(np.float64) for name in ("x", "weight", "g"))
    results = {"out": np.zeros(g.shape), "x_grad": np.zeros(x.shape), "w_grad": weight * 0}

    def added(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        count = len(rows)
        ones = csr_matrix((np.ones(count), (rows, np.arange(count))), (len(x), count))
        return ones @ values

    for cell in range(CELLS):
        (at,) = np.nonzero(a["cells"] == cell)
        j, k = a["points"][at], a["queries"][at]
        results["out"] += added(k, x[j] @ weight[cell].T)
        if backward:
            results["x_grad"] += added(j, g[k] @ weight[cell])
            results["w_grad"][cell] = g[k].T @ x[j]
    return results


def by_cell(torch, cells, points, queries) -> list:
    """The points and the queries of each kernel cell, as lists."""
    order = cells.argsort(stable=True)
    sizes = torch.bincount(cells, minlength=CELLS).tolist()
    return list(zip(points[order].split(sizes), queries[order].split(sizes)))


def torch_conv(x, weight, lists: list, count: int):
    out = x.new_zeros(count, weight.shape[1])
    for matrix, (points, queries) in zip(weight, lists):
        out.index_add_(0, queries, x.index_select(0, points) @ matrix.T)
    return out


def conv_row(points: int, backward: bool) -> Row:
    def ours(mx, x, g, weight, **found) -> list:
        conv, near = layer(), neighborhood(found, "", points)
        batch = clouds_without_places(mx, x)

        def run(x, weight):
            conv.weight = weight[:, None]
            return conv(batch.replace(batch.positions, x), neighbors=near).features

        if not backward:
            return [run(x, weight)]
        (out,), gradients = mx.vjp(run, [x, weight], [g])
        return [out, *gradients]

    def theirs(torch, x, g, weight, cells, points, queries, lengths) -> list:
        lists = by_cell(torch, cells, points, queries)

        def run():
            if not backward:
                with torch.no_grad():
                    return torch_conv(x, weight, lists, len(x))
            leaves = [v.detach().requires_grad_() for v in (x, weight)]
            out = torch_conv(*leaves, lists, len(x))
            return [out, *torch.autograd.grad(out, leaves, g)]

        return [run]

    outputs = {"out": ((points, CHANNELS), "float32")}
    if backward:
        outputs |= {"x_grad": ((points, CHANNELS), "float32")}
        outputs |= {"w_grad": ((CELLS, CHANNELS, CHANNELS), "float32")}

    def reference(a: dict) -> dict:
        results = numpy_layer(a, backward)
        return {name: results[name] for name in outputs}

    return Row(
        name=f"PointConv{' grads' if backward else ''} {points}",
        inputs=lambda: layer_inputs(points),
        outputs=outputs,
        reference=reference,
        array=ours,
        torch=theirs,
        flops=(3 if backward else 1) * 2 * points * NEIGHBOURS * CHANNELS**2,
        rtol=1e-3,
        atol=3e-4,
        targets={"PyTorch": 2.0, "kept": 2.0},
        memory=LARGEST_SHARE,
    )


def clouds_without_places(mx, x):
    """A batch for layers that are given neighbours and need no positions."""
    from mlx_sample_extensions import PointCloudBatch

    return PointCloudBatch(mx.zeros((x.shape[0], 3)), x, check=False)


# ---- an encoder ----


def encoder(points: int):
    """Cells of the first grid hold about eight points."""
    from mlx_sample_extensions.nn import PointCNNEncoder

    size = 2 * (8 / points) ** (1 / 3)
    return PointCNNEncoder(CHANNELS, [CHANNELS] * LEVELS, size, lambda a, b: layer())


def encoder_inputs(points: int) -> dict:
    random = np.random.default_rng(1)
    batch = clouds_of(points)
    levels = encoder(points).levels(batch)
    last = levels.neighbors[-1].n_points
    scale = np.float32(1 / np.sqrt(CHANNELS * NEIGHBOURS))
    shape = (LEVELS, CELLS, CHANNELS, CHANNELS)
    return arrays_of(levels) | {
        "weight": random.standard_normal(shape, np.float32) * scale,
        "x": random.standard_normal((points, CHANNELS), np.float32),
        "g": random.standard_normal((last, CHANNELS), np.float32),
    }


def our_encoder(points: int) -> Callable:
    def ours(mx, x, g, weight, **found) -> list:
        from mlx_sample_extensions.nn import PointLevels

        model = encoder(points)
        counts = [found[f"neighbors_{i}_lengths"].shape[0] for i in range(LEVELS)]
        levels = PointLevels(
            [neighborhood(found, f"neighbors_{i}_", counts[i]) for i in range(LEVELS)],
            [found[f"lengths_{i}"] for i in range(LEVELS)],
            [found[f"cells_{i}"] for i in range(LEVELS - 1)],
            [],
        )
        batch = clouds_without_places(mx, x)

        def run(x, weight):
            for number, convolution in enumerate(model.convolutions):
                convolution.weight = weight[number, :, None]
            return model(batch.replace(batch.positions, x), levels)[-1].features

        (out,), gradients = mx.vjp(run, [x, weight], [g])
        return [out, *gradients]

    return ours


def torch_encoder(torch, x, g, weight, **found) -> list:
    lists = [
        by_cell(torch, *(found[f"neighbors_{i}_{n}"] for n in ("cells", "points", "queries")))
        for i in range(LEVELS)
    ]
    counts = [found[f"neighbors_{i}_lengths"].shape[0] for i in range(LEVELS)]

    def forward(x, weight):
        for number in range(LEVELS):
            if number:
                wide = found[f"cells_{number - 1}"][:, None].expand_as(x)
                empty = x.new_zeros(counts[number], CHANNELS)
                x = empty.scatter_reduce(0, wide, x, "amax", include_self=False)
            x = torch_conv(x, weight[number], lists[number], counts[number])
            x = torch.relu(torch.nn.functional.batch_norm(x, None, None, training=True, eps=EPS))
        return x

    def run():
        leaves = [v.detach().requires_grad_() for v in (x, weight)]
        out = forward(*leaves)
        return [out, *torch.autograd.grad(out, leaves, g)]

    return [run]


def exact_encoder(inputs: dict) -> dict:
    """PyTorch's composition in double precision."""
    import torch

    tensors = {name: torch.from_numpy(value) for name, value in inputs.items()}
    tensors |= {name: tensors[name].double() for name in ("x", "g", "weight")}
    (run,) = torch_encoder(torch, **tensors)
    return dict(zip(("out", "x_grad", "w_grad"), (v.detach().numpy() for v in run())))


def encoder_row(points: int) -> Row:
    import mlx.core as mx

    levels = encoder(points).levels(clouds_of(points))
    counts = [found.n_points for found in levels.neighbors]
    pairs = sum(found.points.shape[0] for found in levels.neighbors)
    mx.clear_cache()
    return Row(
        name=f"encoder grads {points}",
        inputs=lambda: encoder_inputs(points),
        outputs={
            "out": ((counts[-1], CHANNELS), "float32"),
            "x_grad": ((points, CHANNELS), "float32"),
            "w_grad": ((LEVELS, CELLS, CHANNELS, CHANNELS), "float32"),
        },
        reference=exact_encoder,
        array=our_encoder(points),
        torch=torch_encoder,
        flops=3 * 2 * pairs * CHANNELS**2,
        rtol=1e-2,
        atol=1e-2,
        wrong_share=1e-2,  # maxima and signs that rounding decides
        targets={"PyTorch": 2.0, "kept": 2.0},
        memory=LARGEST_SHARE,
    )


def rows(size: str) -> list[Row]:
    points = 2_000 if size == "small" else 100_000
    found = [conv_row(points, backward) for backward in (False, True)]
    # The encoder is checked by PyTorch in double precision.
    return found + ([encoder_row(points)] if importlib.util.find_spec("torch") else [])
