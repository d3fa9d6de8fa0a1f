"""Is a kernel fast however it is phrased? The same computation in many usual phrasings.

    python benchmarks/phrasings.py [--only NAME] [--phrasing NAME] [--size small] [--calls 15]
                                   [--cpu-time] [--first] [--json]

The limit is a hand-written C++ loop on all cores, in phrasing_rows/; it writes to a buffer that it
keeps, where kernels allocate their results. Every phrasing is checked against NumPy first; then
phrasings and limit run alternately in one process, and a ratio is the phrasing's median divided by
the limit's. Phrasings marked `*` move other memory than the rest, or in another order: they do not
count in slowest/fastest, whose goal is 1.3. The goal of fastest/limit is 1.25.
"""

import argparse
import ctypes
import functools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import mlx.core as mx
import numpy as np
import phrasing_rows
from bench.child import metal_step
from bench.native import library
from bench.options import add_calls, add_size, calls_of
from bench.row import Arrays
from phrasing_rows.phrasing import Computation, Phrasing

LIMIT = "limit (C++)"
MOST_SPREAD, MOST_OVER_LIMIT = 1.3, 1.25


@dataclass
class Way:
    """A phrasing, or the limit, ready to run."""

    name: str
    run: Callable[[], object]
    comparable: bool
    problem: str = ""
    first: float = 0.0  # milliseconds of the first call, compilation included
    times: list[float] = field(default_factory=list)
    memory: list[np.ndarray] = field(default_factory=list)  # what `run` has only pointers to

    @property
    def median(self) -> float:
        return statistics.median(self.times)


def limit_way(computation: Computation, arrays: dict, expected: Arrays) -> Way:
    """The limit works in memory of the kernels' kind, on the same inputs."""
    limit = computation.limit
    source = Path(phrasing_rows.__file__).with_name(f"{limit.source}.cpp")
    function = getattr(library(source), limit.function)
    outputs = {
        name: mx.zeros(shape, getattr(mx, dtype))
        for name, (shape, dtype) in computation.outputs.items()
    }
    mx.eval(list(outputs.values()))
    results = {name: np.asarray(array) for name, array in outputs.items()}
    memory = [np.asarray(arrays[name]) for name in limit.inputs] + list(results.values())
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in memory]
    numbers = map(ctypes.c_long, limit.numbers)
    call = functools.partial(function, *pointers, *numbers)
    way = Way(LIMIT, call, comparable=False, memory=memory)
    way.run()
    way.problem = computation.check(results, expected)
    return way


def phrasing_way(
    computation: Computation,
    phrasing: Phrasing,
    arrays: dict,
    expected: Arrays,
    clock: Callable[[], float],
) -> Way:
    steps = [metal_step(mx, launch) for launch in phrasing.metal]

    def run() -> dict:
        results = dict(arrays)
        for step in steps:
            results |= step(results)
        mx.eval([results[name] for name in computation.outputs])
        return results

    way = Way(phrasing.name, run, phrasing.same_traffic)
    start = clock()
    try:
        results = run()
    except Exception as error:
        way.problem = f"failed: {error}"
        return way
    way.first = (clock() - start) * 1e3
    way.problem = computation.check(
        {name: np.array(results[name]) for name in computation.outputs}, expected
    )
    return way


def compile_something() -> None:
    """The first kernel of a process also loads the compiler."""
    small = mx.fast.metal_kernel("small", ["x"], ["y"], "y[0] = x[0];")
    one = {"grid": (1, 1, 1), "threadgroup": (1, 1, 1), "output_shapes": [(1,)]}
    mx.eval(small(inputs=[mx.zeros(1)], output_dtypes=[mx.float32], **one))


def measure(computation: Computation, options: argparse.Namespace) -> list[Way]:
    inputs = computation.inputs()
    expected = computation.reference(inputs)
    arrays = {name: mx.array(value) for name, value in inputs.items()}
    mx.eval(list(arrays.values()))
    clock = time.process_time if options.cpu_time else time.perf_counter
    ways = [limit_way(computation, arrays, expected)]
    for phrasing in computation.phrasings:
        if options.phrasing in phrasing.name:
            ways.append(phrasing_way(computation, phrasing, arrays, expected, clock))
    working = [way for way in ways if not way.problem.startswith("failed")]
    for call in range(calls_of(options, 15) + 1):
        for way in working:
            start = clock()
            way.run()
            elapsed = (clock() - start) * 1e3
            if call:
                way.times.append(elapsed)
    return ways


def goal(ratio: float, most: float) -> str:
    return f"{ratio:.2f}" + ("" if ratio <= most else f" (goal {most})")


def print_table(computation: Computation, ways: list[Way], first: bool) -> None:
    limit, *phrasings = ways
    print(f"\n{computation.name:50} {'ms':>9} {'/limit':>8}" + (f" {'first':>7}" if first else ""))
    timed = sorted((way for way in phrasings if way.times), key=lambda way: way.median)
    for way in [limit, *timed]:
        name = way.name + ("" if way.comparable or way is limit else " *")
        line = f"  {name:48} {way.median:9.3f} {way.median / limit.median:8.2f}"
        if first and way is not limit:
            line += f" {way.first - way.median:7.0f}"
        print(line)
    for way in (way for way in ways if way.problem):
        print(f"  WRONG: {way.name}: {way.problem}")
    comparable = [way.median for way in timed if way.comparable]
    if comparable:
        spread, over = comparable[-1] / comparable[0], timed[0].median / limit.median
        print(
            f"  slowest/fastest {goal(spread, MOST_SPREAD)}, "
            f"fastest/limit {goal(over, MOST_OVER_LIMIT)}",
            flush=True,
        )


def print_json(computation: Computation, ways: list[Way]) -> None:
    for way in ways:
        line = {"computation": computation.name, "phrasing": way.name, "problem": way.problem}
        line |= {"same_traffic": way.comparable, "first": way.first}
        if way.times:
            line |= {"milliseconds": way.median, "ratio": way.median / ways[0].median}
        print(json.dumps(line), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="computations whose name contains this")
    parser.add_argument("--phrasing", default="", help="phrasings whose name contains this")
    add_size(parser)
    add_calls(parser, "timed calls of each phrasing")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, not elapsed time")
    parser.add_argument(
        "--first", action="store_true", help="compile times, without the disk cache"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.first:
        os.environ["MLX_CACHE_DIR"] = ""
    compile_something()
    wrong = False
    for computation in phrasing_rows.rows(options.size):
        if options.only not in computation.name:
            continue
        ways = measure(computation, options)
        wrong |= any(way.problem for way in ways)
        if options.json:
            print_json(computation, ways)
        else:
            print_table(computation, ways, options.first)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
