"""A peer in a process of its own: reads one command a line, answers with one line of JSON.

Peers have their own LLVM, OpenMP runtime and thread pool, which must not be in one process.
"""

import importlib
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .row import Arrays, Metal, Row

SHORT = 5.0  # milliseconds

Runner = tuple[Callable[[], object], Callable[[object], Arrays]]


def metal_step(mx, launch: Metal) -> Callable[[dict], dict]:
    """A function from the arrays so far to the outputs of one launch."""
    kernel = mx.fast.metal_kernel(
        name="benchmark",
        input_names=list(launch.inputs),
        output_names=list(launch.outputs),
        source=launch.source,
        header=launch.header,
        atomic_outputs=launch.atomic_outputs,
        ensure_row_contiguous=launch.ensure_row_contiguous,
    )
    template = [
        (k, getattr(mx, v) if isinstance(v, str) else v) for k, v in launch.template.items()
    ]
    arguments = {
        "template": template,
        "grid": launch.grid,
        "threadgroup": launch.threadgroup,
        "output_shapes": [shape for shape, _ in launch.outputs.values()],
        "output_dtypes": [getattr(mx, dtype) for _, dtype in launch.outputs.values()],
    }
    if launch.init_value is not None:
        arguments["init_value"] = launch.init_value

    def step(arrays: dict) -> dict:
        results = kernel(inputs=[arrays[name] for name in launch.inputs], **arguments)
        return dict(zip(launch.outputs, results))

    return step


def ours(row: Row, inputs: Arrays) -> Runner:
    import mlx.core as mx

    arrays = {name: mx.array(value) for name, value in inputs.items()}
    for name, dtype in row.dtypes.items():
        arrays[name] = arrays[name].astype(getattr(mx, dtype))
    for name, axes in row.permuted.items():
        mx.eval(arrays[name])
        arrays[name] = arrays[name].transpose(*axes)
    mx.eval(list(arrays.values()))
    steps = [metal_step(mx, launch) for launch in row.metal]

    def run() -> dict:
        if row.array:
            results = dict(zip(row.outputs, row.array(mx, **arrays)))
        else:
            results = dict(arrays)
            for step in steps:
                results |= step(results)
        mx.eval([results[name] for name in row.outputs])
        return results

    def read(results: object) -> Arrays:
        return {
            name: np.array(results[name].astype(mx.float32 if "float" in dtype else mx.int32))
            for name, (_, dtype) in row.outputs.items()
        }

    return run, read


def opencl(row: Row, inputs: Arrays) -> Runner:
    import pyopencl as cl

    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, row.opencl_source).build()
    flags = cl.mem_flags
    buffers = {}
    for name, value in inputs.items():
        value = np.pad(value.ravel(), row.opencl_margin.get(name, 0))
        buffers[name] = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=value)
    for name, (shape, dtype) in row.outputs.items():
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        buffers[name] = cl.Buffer(context, flags.READ_WRITE, size)
    launches = []
    for launch in row.opencl:
        kernel = cl.Kernel(program, launch.kernel)
        kernel.set_args(*(buffers[name] for name in launch.buffers))
        launches.append((kernel, launch))

    def run() -> None:
        for kernel, launch in launches:
            for name in launch.clear:
                cl.enqueue_fill_buffer(queue, buffers[name], np.uint32(0), 0, buffers[name].size)
            cl.enqueue_nd_range_kernel(queue, kernel, launch.grid, launch.group)
        queue.finish()

    def read(_: object) -> Arrays:
        results = {}
        for name, (shape, dtype) in row.outputs.items():
            results[name] = np.empty(shape, dtype)
            cl.enqueue_copy(queue, results[name], buffers[name])
        return results

    return run, read


def torch(row: Row, inputs: Arrays, threads: int, device: str = "cpu") -> Runner:
    """The fastest of the row's PyTorch versions."""
    import torch

    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = False  # as for products of matrices, and as ours
    tensors = {name: torch.from_numpy(value).to(device) for name, value in inputs.items()}
    for name, dtype in row.dtypes.items():
        tensors[name] = tensors[name].to(getattr(torch, dtype))
    for name, axes in row.permuted.items():
        tensors[name] = tensors[name].permute(*axes)
    ways = row.torch(torch, **tensors)
    if device == "cuda":
        ways = [waits_for_gpu(torch, way) for way in ways]
    if len(ways) > 1:
        ways = sorted(ways, key=lambda way: statistics.median(milliseconds(way) for _ in range(5)))

    def read(results: object) -> Arrays:
        results = results if isinstance(results, (tuple, list)) else [results]
        return {
            name: (value.float() if "float" in dtype else value.int()).detach().cpu().numpy()
            for (name, (_, dtype)), value in zip(row.outputs.items(), results)
        }

    return ways[0], read


def waits_for_gpu(torch, way: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        results = way()
        torch.cuda.synchronize()
        return results

    return run


def on_host(row: Row, ways: list[Callable[[], object]]) -> Runner:
    """The fastest of the versions; `read` returns the function's results in order."""
    if len(ways) > 1:
        ways = sorted(ways, key=lambda way: statistics.median(milliseconds(way) for _ in range(3)))
    return ways[0], lambda results: dict(zip(row.outputs, results))


def scipy(row: Row, inputs: Arrays) -> Runner:
    return on_host(row, row.scipy(**inputs))


def nanoflann(row: Row, inputs: Arrays) -> Runner:
    return on_host(row, row.nanoflann(**inputs))


def milliseconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def steady_milliseconds(function: Callable[[], object]) -> float:
    """The time of a call. Where that is short, the first call only wakes threads and fills caches
    that other processes have used since, and the mean of more calls counts."""
    first = milliseconds(function)
    if first >= SHORT:
        return first
    calls, start, spent = 0, time.perf_counter(), 0.0
    while spent < SHORT:
        function()
        calls += 1
        spent = (time.perf_counter() - start) * 1e3
    return spent / calls


def our_peak(run: Callable[[], object]) -> int:
    """The peak bytes of arrays in a call, beyond arguments and results."""
    import mlx.core as mx

    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    out = run()
    return mx.get_peak_memory() - before - bytes_of(out)


def torch_peak(run: Callable[[], object]) -> int:
    """The same for tensors: the profiler records each allocation and release."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        out = run()
        size = bytes_of(out)
    events = profiler.profiler.kineto_results.events()
    memory = sorted((e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]")
    now = peak = 0
    for _, change in memory:
        now += change
        peak = max(peak, now)
    return peak - size


def bytes_of(results: object) -> int:
    """The bytes of all arrays or tensors of a call."""
    values = list(results.values()) if isinstance(results, dict) else results
    return sum(v.nbytes for v in (values if isinstance(values, (list, tuple)) else [values]))


class Peer:
    def __init__(self, kind: str, module: str, size: str, threads: int, stream: str) -> None:
        if kind == "ours":
            import mlx.core as mx

            mx.set_default_device(getattr(mx, stream))
        self.kind, self.threads = kind, threads
        self.rows = {row.name: row for row in importlib.import_module(module).rows(size)}

    def prepare(self, name: str, folder: str) -> dict:
        """Compiles, runs once, and saves the results in the folder."""
        row = self.rows[name]
        inputs = {path.stem: np.load(path) for path in Path(folder, "inputs").glob("*.npy")}
        if self.kind in ("torch", "torch_gpu"):
            device = "cpu" if self.kind == "torch" else "cuda"
            self.run, read = torch(row, inputs, self.threads, device)
        else:
            kinds = {"ours": ours, "opencl": opencl, "scipy": scipy, "nanoflann": nanoflann}
            self.run, read = kinds[self.kind](row, inputs)
        start = time.perf_counter()
        results = self.run()
        first = (time.perf_counter() - start) * 1e3
        for output, value in read(results).items():
            np.save(Path(folder, f"{output}.npy"), value)
        return {"first": first}

    def answer(self, command: dict) -> dict:
        if command["do"] == "prepare":
            return self.prepare(command["row"], command["folder"])
        if command["do"] == "memory":
            peak = {"ours": our_peak, "torch": torch_peak}.get(self.kind)
            return {"bytes": peak(self.run)} if peak else {}
        return {"ms": steady_milliseconds(self.run)}


def main() -> None:
    kind, module, size, threads, stream = sys.argv[1:]
    replies, sys.stdout = sys.stdout, sys.stderr
    peer = Peer(kind, module, size, int(threads), stream)
    for line in sys.stdin:
        try:
            reply = peer.answer(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
