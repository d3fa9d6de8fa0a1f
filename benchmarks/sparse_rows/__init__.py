"""The sparse operations that are measured; each module has the rows of a family."""

from bench.row import Row

from . import points, products

MODULES = [products, points]


def rows(size: str) -> list[Row]:
    return [row for module in MODULES for row in module.rows(size == "small")]
