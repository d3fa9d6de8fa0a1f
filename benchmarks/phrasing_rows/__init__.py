"""The computations of phrasings.py."""

from . import exp, histogram, matmul, softmax, transpose
from .phrasing import Computation


def rows(size: str) -> list[Computation]:
    modules = [exp, transpose, histogram, softmax, matmul]
    return [row for module in modules for row in module.rows(size)]
