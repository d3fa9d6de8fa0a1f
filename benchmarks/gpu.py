"""Operations and kernels on an NVIDIA GPU, beside PyTorch on the same GPU.

    python benchmarks/gpu.py [--only NAME] [--size small] [--calls 7]

Both compute the same inputs and are checked against NumPy; then they run alternately, and each call
ends when the GPU has finished. A ratio is PyTorch's time divided by ours. Needs an NVIDIA GPU, and a
PyTorch that can use it.
"""

import argparse

import gpu_rows
from bench.driver import Result, geometric_mean, run_row
from bench.options import add_calls, add_size, calls_of
from bench.peers import Peers

THREADS = 8  # of the host


def print_result(result: Result) -> None:
    ours, theirs = result.medians.get("ours"), result.medians.get("PyTorch")
    line = f"{result.row.name:34}"
    line += f"{ours:10.3f}" if ours else f"{'-':>10}"
    line += f"{theirs:10.3f} {theirs / ours:6.2f}x" if ours and theirs else f"{'-':>18}"
    if ours and result.row.moved:
        line += f"  {result.row.moved / ours / 1e6:6.0f} GB/s"
    print(line, flush=True)
    for peer, problem in result.wrong.items():
        print(f"    {peer}: {problem}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="rows whose name has this")
    add_size(parser)
    add_calls(parser)
    options = parser.parse_args()
    peers = Peers("gpu_rows", options.size, THREADS, "gpu", gpu=True)
    print(f"{'':34}{'ours ms':>10}{'PyTorch ms':>10}   ratio")
    results = []
    try:
        for row in gpu_rows.rows(options.size):
            if row.torch and (not options.only or any(o in row.name for o in options.only)):
                results.append(run_row(row, peers, calls_of(options, 7)))
                print_result(results[-1])
    finally:
        peers.close()
    print("geometric mean: " + geometric_mean(results, "PyTorch"))
    if any("ours" in result.wrong for result in results):
        raise SystemExit("wrong results")


if __name__ == "__main__":
    main()
