"""The rows of `gpu.py`: operations on arrays that are larger than a GPU's caches, and kernels."""

import kernel_rows
import ops_rows
import sparse_rows
from bench.row import Row


class LargeTable(ops_rows.Table):
    def __init__(self, size: str):
        super().__init__(size)
        self.n = 128 if self.small else 4096


def rows(size: str) -> list[Row]:
    table = LargeTable(size)
    ops_rows.add_elementwise(table)
    ops_rows.add_small(table)
    ops_rows.add_reductions(table)
    ops_rows.add_moving(table)
    ops_rows.add_products(table)
    ops_rows.add_ordering(table)
    return table.made + kernel_rows.rows(size) + sparse_rows.rows(size)
