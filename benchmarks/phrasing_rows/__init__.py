"""The computations of phrasings.py."""

from . import exp, histogram, layer_norm, matmul, softmax, stencil, sums, transpose
from .phrasing import Computation

MODULES = [exp, transpose, histogram, softmax, matmul, sums, layer_norm, stencil]


def rows(size: str) -> list[Computation]:
    return [row for module in MODULES for row in module.rows(size)]
