"""Times axpby and grid_sample as array operations, with this package or the published mlx.

Prints one line of JSON with milliseconds. `benchmarks/seeds.py` runs it in both environments.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import mlx.core as mx


def axpby(x: mx.array, y: mx.array, alpha: float, beta: float) -> mx.array:
    """Two products and a sum."""
    return alpha * x + beta * y


def grid_sample(x: mx.array, grid: mx.array) -> mx.array:
    """Bilinear samples of pictures (N, H, W, C) at points (N, H', W', 2), zero outside."""
    count, height, width, _ = x.shape
    u = ((grid[..., 0] + 1) * width - 1) / 2
    v = ((grid[..., 1] + 1) * height - 1) / 2
    # Indices have no gradient; the published mlx requires this call.
    left = mx.stop_gradient(mx.floor(u)).astype(mx.int32)
    top = mx.stop_gradient(mx.floor(v)).astype(mx.int32)
    picture = mx.arange(count)[:, None, None]
    total = None
    for right in (0, 1):
        for low in (0, 1):
            column, row = left + right, top + low
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            weight = (u - left if right else left + 1 - u) * (v - top if low else top + 1 - v)
            pixel = x[picture, mx.clip(row, 0, height - 1), mx.clip(column, 0, width - 1)]
            term = weight[..., None] * (pixel * inside[..., None])
            total = term if total is None else total + term
    return total


def milliseconds(
    function: Callable[[], Any], calls: int, evaluate: Callable[[Any], Any] = mx.eval
) -> float:
    """The median time of an evaluated call, after two warm-up calls."""
    times = []
    for call in range(calls + 2):
        start = time.perf_counter()
        evaluate(function())
        if call >= 2:
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def gradient_of(function: Callable[..., mx.array]) -> Callable[..., Any]:
    """Both gradients of a sampling for a given cotangent."""
    return lambda x, grid, g: mx.vjp(function, [x, grid], [g])[1]


def small_axpby_inputs() -> tuple[mx.array, mx.array]:
    return mx.random.normal((256, 512)), mx.random.normal((256, 512))


def large_axpby_inputs(elements: int) -> tuple[mx.array, mx.array]:
    return mx.random.normal((elements,)), mx.random.normal((elements,))


def sampling_inputs(pictures: list[int], points: list[int]) -> tuple[mx.array, mx.array, mx.array]:
    x = mx.random.normal(pictures)
    grid = mx.random.uniform(-1, 1, (*points, 2))
    return x, grid, mx.random.normal((*points, pictures[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, required=True)
    parser.add_argument("--pictures", type=int, nargs=4, required=True)
    parser.add_argument("--points", type=int, nargs=3, required=True)
    parser.add_argument("--calls", type=int, default=5)
    options = parser.parse_args()

    mx.set_default_device(mx.cpu)
    result = {"version": mx.__version__}
    x, y = small_axpby_inputs()
    mx.eval(x, y)
    result["axpby small"] = milliseconds(lambda: axpby(x, y, 4.0, 2.0), 500)
    x, y = large_axpby_inputs(options.elements)
    mx.eval(x, y)
    result["axpby large"] = milliseconds(lambda: axpby(x, y, 4.0, 2.0), options.calls)
    x, grid, g = sampling_inputs(options.pictures, options.points)
    mx.eval(x, grid, g)
    result["grid_sample"] = milliseconds(lambda: grid_sample(x, grid), options.calls)
    gradient = gradient_of(grid_sample)
    result["grid_sample vjp"] = milliseconds(lambda: gradient(x, grid, g), options.calls)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
