"""Times axpby and grid_sample beside array operations: here, on the published mlx, and PyTorch.

    python benchmarks/seeds.py [--size small] [--calls 5] [--without-published] [--full]

The published mlx (its CPU build) is installed into an environment of its own, in
build/benchmarks/published, when it is first needed, but not for the small size. PyTorch is used if
it is installed.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parent),
    str(Path(__file__).resolve().parents[1] / "examples"),
]

import compositions as arrays  # noqa: E402
import grid_sample as example  # noqa: E402
import mlx.core as mx  # noqa: E402
from bench.options import add_calls, add_size, calls_of  # noqa: E402
from mlx_sample_extensions import axpby, grid_sample  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "build" / "benchmarks" / "published"
# The sizes of the documented speedups: 8x for the kernel, 40x for its gradient.
FULL = {"pictures": [8, 1024, 1024, 64], "points": [8, 256, 256]}
SCALED = {"pictures": [2, 512, 512, 64], "points": [2, 256, 256]}
SMALL = {"pictures": [1, 64, 64, 16], "points": [1, 32, 32]}
MEMORY_FOR_FULL = 48 << 30


def published_python() -> Path:
    """The interpreter of an environment with the published mlx."""
    python = PUBLISHED / "bin" / "python"
    if not python.exists():
        venv.create(PUBLISHED, with_pip=True)
    known = subprocess.run([python, "-I", "-c", "import mlx.core"], capture_output=True)
    if known.returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "mlx[cpu]"], check=True)
    return python


def compositions_under(python: Path | str, options: list[str]) -> dict[str, float]:
    """The times that `compositions.py` measures with an interpreter."""
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONPATH" or python == sys.executable
    }
    script = ROOT / "benchmarks" / "compositions.py"
    done = subprocess.run(
        [str(python), str(script), *options], capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def ours(sizes: dict, elements: int, calls: int) -> dict[str, float]:
    """The custom operations, and the example's kernels through metal_kernel."""
    times = {}
    with mx.stream(mx.cpu):
        x, y = arrays.small_axpby_inputs()
        mx.eval(x, y)
        times["axpby small"] = arrays.milliseconds(lambda: axpby(x, y, 4.0, 2.0), 500)
        x, y = arrays.large_axpby_inputs(elements)
        mx.eval(x, y)
        times["axpby large"] = arrays.milliseconds(lambda: axpby(x, y, 4.0, 2.0), calls)
    x, grid, g = arrays.sampling_inputs(sizes["pictures"], sizes["points"])
    mx.eval(x, grid, g)
    for name, function in (("", grid_sample), ("kernel: ", example.grid_sample)):
        times[name + "grid_sample"] = arrays.milliseconds(lambda f=function: f(x, grid), calls)
        gradient = arrays.gradient_of(function)
        times[name + "grid_sample vjp"] = arrays.milliseconds(
            lambda f=gradient: f(x, grid, g), calls
        )
    return times


def torch_times(sizes: dict, elements: int, calls: int) -> dict[str, float]:
    """The same by PyTorch on the CPU; empty if it is not installed."""
    try:
        import torch
    except ImportError:
        return {}
    times = {}

    def measure(name: str, function, calls: int) -> None:
        times[name] = arrays.milliseconds(function, calls, evaluate=lambda result: None)

    for name, shape, count in (("small", (256, 512), 500), ("large", (elements,), calls)):
        x, y = torch.randn(shape), torch.randn(shape)
        measure(f"axpby {name}", lambda x=x, y=y: 4.0 * x + 2.0 * y, count)
    batch, height, width, channels = sizes["pictures"]
    x = torch.randn(batch, channels, height, width).contiguous(memory_format=torch.channels_last)
    grid = torch.rand(*sizes["points"], 2) * 2 - 1
    sample = torch.nn.functional.grid_sample
    measure("grid_sample", lambda: sample(x, grid, align_corners=False), calls)
    leaves = x.detach().requires_grad_(), grid.detach().requires_grad_()
    out = sample(*leaves, align_corners=False)
    cotangent = torch.randn_like(out)
    measure(
        "grid_sample vjp",
        lambda: torch.autograd.grad(out, leaves, cotangent, retain_graph=True),
        calls,
    )
    return times


def least_bytes(sizes: dict, elements: int) -> dict[str, int]:
    """The least bytes that each operation must move."""
    pictures, points = sizes["pictures"], sizes["points"]
    values = 4 * points[0] * points[1] * points[2] * pictures[3]
    grid = 8 * points[0] * points[1] * points[2]
    area = 4 * pictures[0] * pictures[1] * pictures[2] * pictures[3]
    touched = min(area, 4 * values)
    return {
        "axpby small": 3 * 4 * 256 * 512,
        "axpby large": 3 * 4 * elements,
        "grid_sample": touched + grid + values,
        # The gradient of the pictures is cleared, read and written.
        "grid_sample vjp": 2 * touched + area + 2 * grid + values,
    }


def print_table(columns: dict[str, dict[str, float]], moved: dict[str, int]) -> None:
    """Prints a line per operation: milliseconds, the ratio to our time, and our bandwidth."""
    names = [name for name in columns if columns[name]]
    print(f"{'':18}" + "".join(f"{name:>26}" for name in names) + f"{'ours, GB/s':>14}")
    for row, size in moved.items():
        line = f"{row:18}"
        base = columns["ours"][row]
        for name in names:
            time = columns[name].get(row)
            line += f"{'-':>26}" if time is None else f"{time:>14.3f} ms {time / base:7.2f}x"
        print(line + f"{size / base / 1e6:>14.1f}")


def choose_sizes(options: argparse.Namespace) -> tuple[dict, int]:
    """Pictures and points, and the elements of the large axpby."""
    if options.size == "small":
        return SMALL, 1 << 16
    memory = mx.metal.device_info()["memory_size"]
    sizes = FULL if options.full or memory >= MEMORY_FOR_FULL else SCALED
    return sizes, 1 << 26 if memory >= 8 << 30 else 1 << 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_size(parser)
    add_calls(parser)
    parser.add_argument("--without-published", action="store_true")
    parser.add_argument("--full", action="store_true", help="the documents' sizes, whatever memory")
    options = parser.parse_args()

    calls = calls_of(options, 5)
    sizes, elements = choose_sizes(options)
    arguments = ["--elements", elements, "--calls", calls]
    arguments += ["--pictures", *sizes["pictures"], "--points", *sizes["points"]]
    arguments = [str(value) for value in arguments]

    times = ours(sizes, elements, calls)
    columns = {
        "ours": times,
        "metal_kernel": {k[8:]: v for k, v in times.items() if k.startswith("kernel: ")},
        "array operations": compositions_under(sys.executable, arguments),
    }
    if not options.without_published and (options.size == "full" or PUBLISHED.exists()):
        published = compositions_under(published_python(), arguments)
        columns[f"published mlx {published['version']}"] = published
    columns["PyTorch"] = torch_times(sizes, elements, calls)
    print(
        f"axpby: (256, 512) and ({elements},); x {tuple(sizes['pictures'])}, "
        f"grid {(*sizes['points'], 2)}; float32, {os.cpu_count()} cores\n"
    )
    print_table(columns, least_bytes(sizes, elements))


if __name__ == "__main__":
    main()
