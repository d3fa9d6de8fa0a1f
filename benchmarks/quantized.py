"""Products with quantised matrices beside their bounds: memcpy, and dequantising first.

    python benchmarks/quantized.py [--size small] [--calls 15] [--json]

One vector: the matrix's bytes read per second, divided by memcpy's bytes per second on all cores;
the goal is 0.8. It is multiplied by the matrix's rows (4 bits) and, as for gradients, by its columns
(the formats below). Several vectors: the time of `dequantize` and `matmul` divided by that of
`quantized_matmul`; the goal is 1. Both run alternately.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mlx.core as mx
import numpy as np

COPIED = 1 << 26
FORMATS: dict[str, dict[str, Any]] = {
    "3 bits": {"bits": 3},
    "4 bits": {},
    "8 bits": {"bits": 8},
    "mxfp4": {"mode": "mxfp4"},
    "mxfp8": {"mode": "mxfp8"},
    "nvfp4": {"mode": "nvfp4"},
}


def seconds(functions: list[Callable[[], Any]], calls: int) -> list[float]:
    """The best time of each; they alternate, after two warm-up calls."""
    times: list[list[float]] = [[] for _ in functions]
    for call in range(calls + 2):
        for function, mine in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            if call >= 2:
                mine.append(time.perf_counter() - start)
    return [min(mine) for mine in times]


def copy_on_all_cores() -> Callable[[], None]:
    source, target = np.ones(COPIED, np.uint8), np.zeros(COPIED, np.uint8)
    cores = os.cpu_count() or 1
    pool = ThreadPoolExecutor(cores)
    parts = [slice(i * COPIED // cores, (i + 1) * COPIED // cores) for i in range(cores)]
    return lambda: [*pool.map(lambda part: np.copyto(target[part], source[part]), parts)].clear()


class Product:
    """A product of some vectors and a quantised matrix of the shape (rows, columns)."""

    def __init__(
        self,
        shape: tuple[int, int],
        vectors: int,
        dtype: mx.Dtype,
        transpose: bool = True,
        **options: Any,
    ):
        self.transpose, self.options, self.dtype = transpose, options, dtype
        self.parts = mx.quantize(mx.random.normal(shape).astype(dtype), **options)
        self.x = mx.random.normal((vectors, shape[transpose])).astype(dtype)
        mx.eval(self.x, *self.parts)

    def quantized(self) -> None:
        mx.eval(mx.quantized_matmul(self.x, *self.parts, transpose=self.transpose, **self.options))

    def dequantized(self) -> None:
        w = mx.dequantize(*self.parts, dtype=self.dtype, **self.options)
        mx.eval(self.x @ (w.T if self.transpose else w))


def share_of_copy(product: Product, copy: Callable[[], None], calls: int) -> tuple[float, float]:
    """Milliseconds, and bytes of the matrix per second in those that are copied."""
    ours, copied = seconds([product.quantized, copy], calls)
    return 1000 * ours, (product.parts[0].nbytes / ours) / (COPIED / copied)


def vector_rows(shapes: list[tuple[int, int]], calls: int) -> Iterator[tuple[str, float, float]]:
    copy = copy_on_all_cores()
    for shape in shapes:
        for dtype in (mx.float32, mx.float16, mx.bfloat16):
            yield (
                f"matrix-vector {shape} {dtype}",
                *share_of_copy(Product(shape, 1, dtype), copy, calls),
            )
        for name, options in FORMATS.items():
            product = Product(shape, 1, mx.float32, False, **options)
            yield f"vector-matrix {shape} {name}", *share_of_copy(product, copy, calls)


def matrix_rows(shapes: list[tuple[int, int]], calls: int) -> Iterator[tuple[str, float, float]]:
    for shape in shapes:
        for transpose in (True, False):
            for vectors in (4, 8, 16, 64, 512):
                product = Product(shape, vectors, mx.float32, transpose)
                ours, peer = seconds([product.quantized, product.dequantized], calls)
                by = "rows" if transpose else "columns"
                yield f"{vectors} vectors by {by} {shape}", 1000 * ours, peer / ours


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=["small", "full"], default="full")
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    small = options.size == "small"
    shapes = [(256, 256)] if small else [(4096, 4096), (11008, 4096)]
    calls = 2 if small else options.calls
    for name, milliseconds, ratio in [*vector_rows(shapes, calls), *matrix_rows(shapes[:1], calls)]:
        if options.json:
            print(json.dumps({"name": name, "milliseconds": milliseconds, "ratio": ratio}))
        else:
            print(f"{name:44} {milliseconds:8.3f} ms  {ratio:5.2f}")


if __name__ == "__main__":
    main()
