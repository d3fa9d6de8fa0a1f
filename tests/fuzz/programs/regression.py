"""Programs kept as files: a kernel named `program`, below a description of its launch.

    //! grid 64 64 1
    //! threadgroup 32 8 1
    //! buffer 0 float 4096 count 64
    //! constant 0 int 3

A buffer has so many values: `fill V`, `count M` (0 to M - 1 again and again), `random SEED`, or
`values A B C ...`, and perhaps an offset: `offset 0 4096`. A function constant has its index, type and value.
The bytes of `[[threadgroup(0)]]` are `threadgroup_memory 512`.
"""

from __future__ import annotations

import random
from pathlib import Path

from .program import CONSTANT_TYPES, Argument, Program
from .runner import Buffer, Launch
from .scalars import SCALARS, Scalar, wrap
from .tree import Variable

FOLDER = Path(__file__).resolve().parent / "regressions"


def random_values(type: Scalar, count: int, seed: int) -> list:
    rng = random.Random(seed)
    if type.is_float:
        return [float(rng.randint(-64, 64)) for _ in range(count)]
    return [rng.randint(*type.range) for _ in range(count)]


def values_of(type: Scalar, count: int, rule: str, rest: list[str]) -> list:
    number = float if type.is_float else int
    if rule == "fill":
        return [number(rest[0])] * count
    if rule == "count":
        return [number(k % int(rest[0])) for k in range(count)]
    if rule == "random":
        return random_values(type, count, int(rest[0]))
    if rule == "values":
        return [number(value) for value in rest]
    raise ValueError(f"unknown rule {rule!r} for a buffer's values")


def rule_for(type: Scalar, values: list) -> str:
    """The shortest text for these values."""
    if len(set(values)) == 1:
        return f"fill {values[0]}"
    top = max(values) + 1
    if top > 0 and all(value == k % top for k, value in enumerate(values)):
        return f"count {int(top)}"
    return "values " + " ".join(str(value) for value in values)


def load(path: Path) -> Launch:
    """The launch that a file describes."""
    source = path.read_text()
    name = "regression_" + path.stem
    launch = Launch(name, "", (1, 1, 1), (1, 1, 1))
    for line in source.splitlines():
        if not line.startswith("//! "):
            continue
        kind, *words = line[4:].split()
        if kind in ("grid", "threadgroup"):
            setattr(launch, kind, tuple(int(word) for word in words))
        elif kind == "buffer":
            type = SCALARS[words[1]]
            values = values_of(type, int(words[2]), words[3], words[4:])
            data = Argument(Variable("", type, size=len(values)), values).data()
            launch.buffers.append(Buffer(data, type.name if type.is_float else "bits"))
        elif kind == "constant":
            index, value = int(words[0]), int(words[2])
            bits = wrap(value, SCALARS["ulong"])
            launch.constants.append((index, CONSTANT_TYPES.index(words[1]), bits))
        elif kind == "offset":
            launch.buffers[int(words[0])].offset = int(words[1])
        elif kind == "threadgroup_memory":
            launch.threadgroup_memory.append(int(words[0]))
        else:
            raise ValueError(f"{path}: {line!r} is not known")
    body = source.replace("void program(", f"void {name}(")
    launch.source = f"namespace {name}_ {{\n{body}}}\n"
    return launch


def text_of(program: Program, remark: str = "") -> str:
    """A program as such a file."""
    lines = [f"// {line}" for line in remark.splitlines()]
    lines.append("//! grid " + " ".join(map(str, program.launched)))
    lines.append("//! threadgroup " + " ".join(map(str, program.threadgroup)))
    for i, argument in enumerate(program.arguments):
        type, values = argument.variable.type, argument.values
        rule = rule_for(type, values)
        lines.append(f"//! buffer {i} {type} {len(values)} {rule}")
        if argument.offset:
            lines.append(f"//! offset {i} {argument.offset}")
    for i, one in enumerate(program.constants):
        lines.append(f"//! constant {i} {one.type} {one.value}")
    if program.is_dynamic and program.shared:
        lines.append(f"//! threadgroup_memory {program.launch().threadgroup_memory[0]}")
    return "\n".join(lines) + "\n" + program.kernel("program")


def all_of(folder: Path = FOLDER) -> list[Launch]:
    return [load(path) for path in sorted(folder.glob("*.metal"))]
