"""Writes failing programs to files: Python that needs only `mlx`, and regressions."""

from __future__ import annotations

from pathlib import Path
from string import Template

from . import regression
from .program import Argument, Program
from .runner import Reply

DTYPES = {"bool": "bool_", "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16",
          "int": "int32", "uint": "uint32", "long": "int64", "ulong": "uint64",
          "half": "float16", "bfloat": "bfloat16", "float": "float32"}  # fmt: skip

FILE = Template('''\
"""$title

$failures
Prints what differs from MLX_CPU_REFERENCE=1 in the form that MLX_CPU_TARGET chooses.
"""

import os
import subprocess
import sys

os.environ["MLX_CACHE_DIR"] = ""  # machine code is made anew

import mlx.core as mx
import numpy as np

HEADER = r"""$header"""
SOURCE = r"""
$source"""
INPUTS = {
$inputs}
OUTPUTS = {
$outputs}


def run() -> list:
    kernel = mx.fast.metal_kernel(
        name="program", input_names=list(INPUTS), output_names=list(OUTPUTS),
        header=HEADER, source=SOURCE,
    )
    results = kernel(
        inputs=list(INPUTS.values()), grid=$grid, threadgroup=$threadgroup, init_value=77,
        output_shapes=[shape for shape, _ in OUTPUTS.values()],
        output_dtypes=[dtype for _, dtype in OUTPUTS.values()],
    )
    mx.eval(*results)
    return [r.astype(mx.float32).tolist() if r.dtype == mx.bfloat16 else r.tolist() for r in results]


nan, inf = float("nan"), float("inf")
got = run()
if os.environ.get("MLX_CPU_REFERENCE"):
    print(got)
else:
    text = subprocess.run([sys.executable, __file__], env=os.environ | {"MLX_CPU_REFERENCE": "1"},
                          capture_output=True, text=True, check=True).stdout
    wrong = 0
    for name, a, b in zip(OUTPUTS, got, eval(text)):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y and not (x != x and y != y):
                wrong += 1
                if wrong < 10:
                    print(f"{name}[{i}] is {x}, in reference mode {y}")
    print(f"{wrong} numbers differ")
    sys.exit(wrong != 0)
''')


def array_text(argument: Argument) -> str:
    dtype = DTYPES[argument.variable.type.name]
    values = argument.values
    if argument.is_single:
        return f"mx.array({values[0]}, mx.{dtype})"
    if len(set(values)) == 1:
        return f"mx.full(({len(values)},), {values[0]}, mx.{dtype})"
    if values == [k % 8 for k in range(len(values))]:
        return f"(mx.arange({len(values)}) % 8).astype(mx.{dtype})"
    if dtype in ("bfloat16", "float16"):
        return f"mx.array({values}, mx.{dtype})"
    return f"mx.array(np.array({values}, np.{dtype}))"


def file_text(program: Program, reply: Reply, title: str) -> str:
    inputs = [a for a in program.arguments if not a.output]
    outputs = [a for a in program.arguments if a.output]
    failures = "".join(
        f"{form}: {message[:600].strip()}\n" for form, message in reply.failures.items()
    ).replace("\\", "/")
    return FILE.substitute(
        title=title,
        failures=failures,
        header=program.header(),
        source=program.body_text(),
        inputs="".join(f"    {a.variable.name!r}: {array_text(a)},\n" for a in inputs),
        outputs="".join(
            f"    {a.variable.name!r}: (({len(a.values)},), mx.{DTYPES[a.variable.type.name]}),\n"
            for a in outputs
        ),
        grid=program.launched,
        threadgroup=program.threadgroup,
    )


def write(program: Program, reply: Reply, folder: Path, title: str) -> Path:
    """A file of the program's seed in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{program.seed:06d}.py"
    path.write_text(file_text(program, reply, title))
    path.with_suffix(".metal").write_text(regression.text_of(program, title))
    return path
