"""Products with 4-bit matrices beside their bounds: memcpy, and dequantising first.

    python benchmarks/quantized.py [--size small] [--calls 15] [--json]

One vector: the matrix's bytes read per second, divided by memcpy's bytes per second on all cores;
the goal is 0.8. Several vectors: the time of `dequantize` and `matmul` divided by that of
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


def inputs(shape: tuple[int, int], vectors: int, dtype: mx.Dtype) -> tuple[mx.array, ...]:
    w = mx.random.normal(shape).astype(dtype)
    x = mx.random.normal((vectors, shape[1])).astype(dtype)
    parts = mx.quantize(w)
    mx.eval(x, *parts)
    return x, *parts


def vector_rows(shapes: list[tuple[int, int]], calls: int) -> Iterator[tuple[str, float, float]]:
    copy = copy_on_all_cores()
    for shape in shapes:
        for dtype in (mx.float32, mx.float16, mx.bfloat16):
            x, *parts = inputs(shape, 1, dtype)
            ours, copied = seconds(
                [lambda x=x, p=parts: mx.eval(mx.quantized_matmul(x, *p)), copy], calls
            )
            share = (parts[0].nbytes / ours) / (COPIED / copied)
            yield f"matrix-vector {shape} {dtype}", 1000 * ours, share


def matrix_rows(shapes: list[tuple[int, int]], calls: int) -> Iterator[tuple[str, float, float]]:
    for shape in shapes:
        for vectors in (4, 8, 16, 64, 512):
            x, *parts = inputs(shape, vectors, mx.float32)
            ours, peer = seconds(
                [
                    lambda x=x, p=parts: mx.eval(mx.quantized_matmul(x, *p)),
                    lambda x=x, p=parts: mx.eval(x @ mx.dequantize(*p).T),
                ],
                calls,
            )
            yield f"{vectors} vectors {shape}", 1000 * ours, peer / ours


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
