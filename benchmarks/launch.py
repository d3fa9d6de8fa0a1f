"""The cost of a kernel besides its computation: compiled, loaded from disk, already loaded.

Each line is the median over several fresh processes or many calls. The array operation is the same
computation without a custom kernel. Then, for each row of kernels.py, how much longer its first
launch takes than the next ones, in a process that has compiled one small kernel before.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernel_rows
from bench.options import add_calls, add_size, calls_of

CHILD = """
import sys, time
import mlx.core as mx

x = mx.arange(1024, dtype=mx.float32)
mx.eval(x)

def once(name, expression):
    start = time.perf_counter()
    kernel = mx.fast.metal_kernel(
        name, ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = " + expression + ";")
    (y,) = kernel(inputs=[x], grid=(1024, 1, 1), threadgroup=(256, 1, 1),
                  output_shapes=[x.shape], output_dtypes=[x.dtype])
    mx.eval(y)
    return time.perf_counter() - start

print(once("first", "x[i] * 2 + 1"), once("second", "metal::exp(x[i]) - x[i] * 3"))
"""

ROW = """
import statistics, sys, time
import kernel_rows
import mlx.core as mx
from bench import child

row = next(row for row in kernel_rows.rows("small") if row.name == sys.argv[1])
small = mx.fast.metal_kernel("small", ["x"], ["y"], "y[0] = x[0];")
mx.eval(small(inputs=[mx.zeros(1)], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
              output_dtypes=[mx.float32]))
run, _ = child.ours(row, row.inputs())

def once():
    start = time.perf_counter()
    run()
    return time.perf_counter() - start

first = once()
print(first - statistics.median(once() for _ in range(5)))
"""


def child(cache: str) -> tuple[float, float]:
    """The seconds for the first and the second kernel of a new process."""
    environment = os.environ | {"MLX_CACHE_DIR": cache}
    text = subprocess.run(
        [sys.executable, "-c", CHILD], env=environment, check=True, capture_output=True, text=True
    ).stdout
    first, second = map(float, text.split())
    return first, second


def compilation(row: str) -> float:
    """Seconds that the kernels of a row take to compile, in a new process without a cache."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"MLX_CACHE_DIR": "", "PYTHONPATH": os.pathsep.join(paths)}
    text = subprocess.run(
        [sys.executable, "-c", ROW, row],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return float(text)


def median_call(function, calls: int) -> float:
    """Seconds for one call."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def loaded(calls: int) -> tuple[float, float]:
    """Seconds for one launch with its eval: a kernel's, and an array operation's."""
    import mlx.core as mx

    x = mx.arange(1024, dtype=mx.float32)
    kernel = mx.fast.metal_kernel(
        "loaded", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = metal::exp(x[i]);"
    )

    def run_kernel():
        (y,) = kernel(
            inputs=[x],
            grid=(1024, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(1024,)],
            output_dtypes=[mx.float32],
        )
        mx.eval(y)

    def run_operation():
        mx.eval(mx.exp(x))

    for warm_up in (run_kernel, run_operation):
        median_call(warm_up, 20)
    return median_call(run_kernel, calls), median_call(run_operation, calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, help="fresh processes for each line")
    add_size(parser)
    add_calls(parser, "launches of a loaded kernel")
    options = parser.parse_args()
    processes = options.processes or (1 if options.size == "small" else 5)

    cold, warm = [], []
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(child(cache))
            warm.append(child(cache))
    first, second = (statistics.median(column) for column in zip(*cold))
    disk_first, disk_second = (statistics.median(column) for column in zip(*warm))
    kernel, operation = loaded(calls_of(options, 2000, small=20))

    def line(what: str, seconds: float, unit: str, note: str = "") -> None:
        scale = {"ms": 1e3, "us": 1e6}[unit]
        print(f"{what:36} {seconds * scale:8.1f} {unit}  {note}")

    line("cold, first kernel of a process", first, "ms")
    line("cold, second kernel", second, "ms")
    line("on disk, first kernel", disk_first, "ms", f"{first / disk_first:.1f}x less")
    line("on disk, second kernel", disk_second, "ms", f"{second / disk_second:.1f}x less")
    line("loaded, launch with eval", kernel, "us")
    line("mx.exp of as much, with eval", operation, "us", f"ratio {kernel / operation:.2f}")
    for row in kernel_rows.rows("small"):
        times = [compilation(row.name) for _ in range(processes)]
        kernels = f"{len(row.metal)} kernels" if len(row.metal) > 1 else ""
        line(f"compiled: {row.name}", statistics.median(times), "ms", kernels)


if __name__ == "__main__":
    main()
