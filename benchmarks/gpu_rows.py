"""The rows of `gpu.py`: operations on arrays that are larger than a GPU's caches, and kernels."""

import kernel_rows
import numpy as np
import ops_rows
import sparse_rows
from bench.row import Row


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


def rows(size: str) -> list[Row]:
    table = LargeTable(size)
    ops_rows.add_elementwise(table)
    ops_rows.add_small(table)
    ops_rows.add_reductions(table)
    ops_rows.add_moving(table)
    ops_rows.add_products(table)
    add_large_products(table)
    ops_rows.add_ordering(table)
    return table.made + kernel_rows.rows(size) + sparse_rows.rows(size)
