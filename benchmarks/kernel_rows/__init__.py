"""The kernels that are measured; each module has one in MSL, in OpenCL C and for PyTorch."""

from bench.row import Row

from . import axpby, exp, grid_sample, histogram, mandelbrot, matmul, quantized, scan, softmax

MODULES = [exp, grid_sample, softmax, matmul, mandelbrot, histogram, scan, quantized, axpby]


def rows(size: str) -> list[Row]:
    return [row for module in MODULES for row in module.rows(size == "small")]
