"""Times the sample operation axpby beside the same sum as array operations."""

import time
from collections.abc import Callable

import mlx.core as mx
from mlx_sample_extensions import axpby


def simple_axpby(x: mx.array, y: mx.array, alpha: float, beta: float) -> mx.array:
    """Three operations: two products and their sum."""
    return alpha * x + beta * y


def seconds(function: Callable[..., mx.array], x: mx.array, y: mx.array, calls: int) -> float:
    """The time of `calls` calls, each evaluated."""
    for _ in range(100):
        mx.eval(function(x, y, 4.0, 2.0))
    start = time.perf_counter()
    for _ in range(calls):
        mx.eval(function(x, y, 4.0, 2.0))
    return time.perf_counter() - start


def main() -> None:
    mx.set_default_device(mx.cpu)
    c = axpby(mx.ones((3, 4)), mx.ones((3, 4)), 4.0, 2.0)
    print(f"c: {c.shape}, {c.dtype}, all 6: {mx.all(c == 6.0).item()}")

    x, y = mx.random.normal((256, 512)), mx.random.normal((256, 512))
    mx.eval(x, y)
    simple, custom = (seconds(f, x, y, 1000) for f in (simple_axpby, axpby))
    print(f"simple axpby: {simple:.3f} s, custom axpby: {custom:.3f} s")


if __name__ == "__main__":
    main()
