"""Runs a kernel body on NumPy arrays, for the tests of kernels."""

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import mlx.core as mx
import numpy as np

# Array types by the names of their elements in MSL.
INTEGERS = {
    "char": mx.int8,
    "uchar": mx.uint8,
    "short": mx.int16,
    "ushort": mx.uint16,
    "int": mx.int32,
    "uint": mx.uint32,
    "long": mx.int64,
    "ulong": mx.uint64,
}
FLOATS = {"half": mx.float16, "bfloat": mx.bfloat16, "float": mx.float32}

# The target processors of code; see test_processors.py.
TARGETS = ["", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
TARGET = TARGETS.index(os.environ.get("MLX_CPU_TARGET", ""))
T = TypeVar("T")


def share(cases: Sequence[T]) -> list[T]:
    """A whole table, or for each of the other target processors a different third of it:
    compiling all of it would take too long."""
    return list(cases[TARGET - 1 :: 3] if TARGET else cases)


CREATION = ("header", "ensure_row_contiguous", "atomic_outputs", "compile_options")


def to_mx(value) -> "mx.array | int | float | bool":
    """NumPy arrays become arrays of the same type; everything else stays."""
    return mx.array(value) if isinstance(value, np.ndarray) else value


def to_numpy(array: mx.array) -> np.ndarray:
    """NumPy has no bfloat16: those become float32."""
    return np.array(array.astype(mx.float32) if array.dtype == mx.bfloat16 else array)


def run_kernel(
    source: str,
    inputs: Mapping[str, object],
    outputs: Mapping[str, tuple[Sequence[int], mx.Dtype]],
    grid: int | tuple[int, int, int],
    threadgroup: int | tuple[int, int, int] = 256,
    **options,
) -> list[np.ndarray]:
    """Creates the kernel, calls it once, and returns its outputs as NumPy arrays."""
    made = {k: options.pop(k) for k in CREATION if k in options}
    kernel = mx.fast.metal_kernel(
        name=options.pop("name", "kernel_under_test"),
        input_names=list(inputs),
        output_names=list(outputs),
        source=source,
        **made,
    )
    results = kernel(
        inputs=[to_mx(value) for value in inputs.values()],
        output_shapes=[tuple(shape) for shape, _ in outputs.values()],
        output_dtypes=[dtype for _, dtype in outputs.values()],
        grid=(grid, 1, 1) if isinstance(grid, int) else grid,
        threadgroup=(threadgroup, 1, 1) if isinstance(threadgroup, int) else threadgroup,
        **options,
    )
    mx.eval(*results)  # raises errors of the kernel
    return [to_numpy(result) for result in results]


def run_one(*arguments, **options) -> np.ndarray:
    """The same for a kernel with one output."""
    (result,) = run_kernel(*arguments, **options)
    return result


def double(**creation):
    """A kernel of any type that doubles its input."""
    return mx.fast.metal_kernel(
        name="double",
        input_names=["x"],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = x[i] + x[i];",
        **creation,
    )


def launch(size: int, group: int = 256) -> dict:
    """The arguments of a call that launch `size` threads in one dimension."""
    return {"grid": (size, 1, 1), "threadgroup": (group, 1, 1)}


def outputs(*arrays: mx.array) -> dict:
    """The arguments of a call whose outputs have the shapes and types of these arrays."""
    return {
        "output_shapes": [a.shape for a in arrays],
        "output_dtypes": [a.dtype for a in arrays],
    }


def run(source: str, inputs: dict, shapes: dict, dtypes: dict, size: int, group=256, **options):
    """run_kernel with separate shapes and types of outputs."""
    both = {name: (shapes[name], dtypes[name]) for name in shapes}
    return run_kernel(source, inputs, both, size, group, **options)
