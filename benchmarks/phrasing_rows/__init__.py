"""The computations of phrasings.py."""

from . import (
    attention,
    bodies,
    exp,
    gather,
    histogram,
    images,
    layer_norm,
    matmul,
    matrix_vector,
    nearest,
    quantized,
    scan,
    softmax,
    sparse,
    stencil,
    sums,
    tables,
    transpose,
)
from .phrasing import Computation

MODULES = [
    exp,
    transpose,
    histogram,
    softmax,
    matmul,
    sums,
    layer_norm,
    stencil,
    scan,
    gather,
    tables,
    images,
    quantized,
    matrix_vector,
    sparse,
    attention,
    bodies,
    nearest,
]


def rows(size: str) -> list[Computation]:
    return [row for module in MODULES for row in module.rows(size)]
