"""What checks cost: the kernels of kernels.py, unchecked and under each check, which run in turns.

    python benchmarks/checks.py [--only NAME] [--size small] [--calls 3] [--check order]

The first column is the median of the unchecked calls, the others say how many times as long the
checked ones take. A kernel that fails a check is named.
"""

import argparse
import contextlib
import statistics
import time

import kernel_rows
import mlx.core as mx
from bench import child
from bench.options import add_calls, add_size, calls_of

CHECKS = ("bounds", "barriers", "races", "uninitialised", "numbers", "all")


def timed(run, check: str | None) -> float:
    """Milliseconds of one call."""
    with mx.metal.check(check) if check else contextlib.nullcontext():
        start = time.perf_counter()
        run()
        return 1e3 * (time.perf_counter() - start)


def measure(row, calls: int, checks: tuple[str, ...]) -> tuple[dict[str | None, float], list[str]]:
    """The median by check, and what was found."""
    run, _ = child.ours(row, row.inputs())
    times: dict[str | None, list[float]] = {None: []} | {check: [] for check in checks}
    found = []
    for turn in range(calls + 1):  # the first one compiles
        for check in list(times):
            try:
                spent = timed(run, check)
            except mx.metal.KernelCheckError as error:
                found.append(str(error))
                del times[check]
                continue
            if turn:
                times[check].append(spent)
    return {check: statistics.median(values) for check, values in times.items()}, found


def main() -> None:
    """Prints a line for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="rows whose name has this")
    add_size(parser)
    add_calls(parser, "timed calls of each kind")
    parser.add_argument("--check", action="append", help=f"instead of {', '.join(CHECKS)}")
    options = parser.parse_args()
    checks = tuple(options.check or CHECKS)
    print(f"{'kernel':30} {'ms':>9}" + "".join(f"{check:>14}" for check in checks))
    for row in kernel_rows.rows(options.size):
        if options.only and not any(name in row.name for name in options.only):
            continue
        medians, found = measure(row, calls_of(options, 3), checks)
        ratios = [medians[check] / medians[None] if check in medians else None for check in checks]
        print(
            f"{row.name:30} {medians[None]:9.3f}"
            + "".join(f"{'-':>14}" if ratio is None else f"{ratio:13.1f}x" for ratio in ratios),
            flush=True,
        )
        for text in found:
            print(text)


if __name__ == "__main__":
    main()
