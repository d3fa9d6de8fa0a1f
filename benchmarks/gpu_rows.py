"""The rows of `gpu.py`: operations on arrays that are larger than a GPU's caches, and kernels."""

from collections.abc import Callable
from dataclasses import replace

import kernel_rows
import numpy as np
import ops_rows
import sparse_rows
from bench.row import Row
from kernel_rows import grid_sample, half_products


class LargeTable(ops_rows.Table):
    def __init__(self, size: str):
        super().__init__(size)
        self.n = 128 if self.small else 4096


def add_large_products(t: LargeTable) -> None:
    n, heads, depth = (64, 2, 16) if t.small else (4096, 32, 128)

    def matrices() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal((n, n), np.float32),
            "w": random.standard_normal((n, n), np.float32) / np.float32(n**0.5),
            "v": random.standard_normal(n, np.float32),
        }

    def queries_and_keys() -> dict:
        random = np.random.default_rng(1)
        shape = (heads, n // 2, depth)
        scale = np.float32(depth**-0.5)
        return {
            "q": random.standard_normal(shape, np.float32) * scale,
            "k": random.standard_normal(shape, np.float32),
        }

    for dtype, tolerance in {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}.items():
        options = {"dtype": dtype, "tolerance": tolerance, "moved": 3}
        square = options | {"inputs": matrices, "flops": 2 * n**3}
        t.same(f"large product, {dtype}", lambda m, a: a.x @ a.w, **square)
        t.add(
            f"linear layer, {dtype}",
            lambda m, a: m.addmm(a.v, a.x, a.w.T),
            lambda m, a: m.addmm(a.v, a.x, a.w.T),
            lambda m, a: a.v + a.x @ a.w.T,
            **square,
        )
        t.same(
            f"products of heads, {dtype}",
            lambda m, a: a.q @ a.k.swapaxes(-1, -2),
            inputs=queries_and_keys,
            flops=2 * heads * (n // 2) ** 2 * depth,
            **options,
        )


def add_convolutions(t: LargeTable) -> None:
    images, side, channels = (2, 8, 4) if t.small else (32, 56, 64)

    def inputs() -> dict:
        random = np.random.default_rng(2)
        scale = np.float32((9 * channels) ** -0.5)
        return {
            "x": random.standard_normal((images, side, side, channels), np.float32),
            "w": random.standard_normal((channels, 3, 3, channels), np.float32) * scale,
        }

    def theirs(m, a):
        x, w = (array.permute(0, 3, 1, 2) for array in (a.x, a.w))
        return m.nn.functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1)

    def reference(m, a):
        x = m.pad(a.x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        pairs = [(i, j) for i in range(3) for j in range(3)]
        return sum(x[:, i : i + side, j : j + side] @ a.w[:, i, j].T for i, j in pairs)

    for dtype, tolerance in {"float32": 1e-4, "float16": 2e-2}.items():
        t.add(
            f"convolution 3x3, {dtype}",
            lambda m, a: m.conv2d(a.x, a.w, padding=1),
            theirs,
            reference,
            inputs=inputs,
            dtype=dtype,
            tolerance=tolerance,
            flops=18 * images * side**2 * channels**2,
        )


def add_transforms(t: LargeTable) -> None:
    for axis, name in {1: "rows", 0: "columns"}.items():
        t.same(
            f"size of the rfft of {name}",
            lambda m, a, axis=axis: m.abs(m.fft.rfft(a.x, None, axis)),
            tolerance=1e-3,
        )


def add_attention(t: LargeTable) -> None:
    batch, heads, length, depth = (1, 2, 64, 64) if t.small else (8, 16, 2048, 128)

    def inputs() -> dict:
        random = np.random.default_rng(3)
        shape = (batch, heads, length, depth)
        return {name: random.standard_normal(shape, np.float32) for name in "qkv"}

    def reference(m, a, hidden):
        """Of one head at a time: all scores would take gigabytes."""
        out = m.empty_like(a.q)
        for at in m.ndindex(batch, heads):
            scores = m.where(hidden, -m.inf, a.q[at] @ a.k[at].T * depth**-0.5)
            weights = m.exp(scores - scores.max(-1, keepdims=True))
            out[at] = weights @ a.v[at] / weights.sum(-1, keepdims=True)
        return out

    for mask in ("", "causal"):
        hidden = np.triu(np.ones((length, length), bool), 1) if mask else False
        for dtype, tolerance in {"float16": 5e-3, "bfloat16": 4e-2}.items():
            t.add(
                f"{mask} attention, {dtype}".strip(),
                lambda m, a, mask=mask: m.fast.scaled_dot_product_attention(
                    a.q, a.k, a.v, scale=depth**-0.5, mask=mask or None
                ),
                lambda m, a, mask=mask: m.nn.functional.scaled_dot_product_attention(
                    a.q, a.k, a.v, is_causal=bool(mask)
                ),
                lambda m, a, hidden=hidden: reference(m, a, hidden),
                inputs=inputs,
                dtype=dtype,
                tolerance=tolerance,
                flops=4 * batch * heads * length**2 * depth // (2 if mask else 1),
            )


def samples(small: bool) -> list[Row]:
    """Pictures that are larger than the caches: by kernels, and by the sample package."""

    def sample() -> Callable:
        import mlx_sample_extensions

        return mlx_sample_extensions.grid_sample

    def by_package(mx, x, grid) -> list:
        return [sample()(x, grid)]

    def gradients_by_package(mx, x, grid, cotangent) -> list:
        return mx.vjp(sample(), [x, grid], [cotangent])[1]

    kernels = grid_sample.rows(small, ((8, 1024, 1024, 64), (8, 256, 256)))
    return [
        made
        for row, array in zip(kernels, (by_package, gradients_by_package))
        for made in (
            replace(row, name=f"large {row.name}"),
            replace(row, name=f"large {row.name}, package", metal=(), array=array),
        )
    ]


def rows(size: str) -> list[Row]:
    table = LargeTable(size)
    ops_rows.add_elementwise(table)
    ops_rows.add_small(table)
    ops_rows.add_reductions(table)
    ops_rows.add_moving(table)
    ops_rows.add_products(table)
    add_large_products(table)
    ops_rows.add_ordering(table)
    add_convolutions(table)
    add_transforms(table)
    add_attention(table)
    small = size == "small"
    kernels = kernel_rows.rows(size) + samples(small) + half_products.rows(small)
    return table.made + kernels + sparse_rows.rows(size)
