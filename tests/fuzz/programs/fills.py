"""Tiles that the threads of a threadgroup fill in loops from their place on, such as with a halo."""

from __future__ import annotations

import random

from .scalars import Scalar
from .tree import Variable

TILE = "tile"

# `i` counts the tile's elements without what pads its rows; {y} and {x} are a row and a column.
FORMS = {
    "elements": (
        "for ({int} i = tix; i < {rows} * {row}; i += {step}) {{",
        "  {int} y = i / {row}, x = i % {row};",
        "  {element}",
        "}}",
    ),
    "rows and columns": (
        "for ({int} y = thread_position_in_threadgroup.y; y < {rows}; y += {step_y}) {{",
        "  for ({int} x = thread_position_in_threadgroup.x; x < {row}; x += {step_x}) {{",
        "    if (thread_position_in_threadgroup.z == 0u) {{ {element} }}",
        "  }}",
        "}}",
    ),
    "counted": (
        "for ({int} turn = 0; turn < {turns}; ++turn) {{",
        "  {int} i = tix + turn * {step}, y = i / {row}, x = i % {row};",
        "  if (i < {rows} * {row}) {{ {element} }}",
        "}}",
    ),
}

# Reads an element of `{from}`, a picture whose rows have {pitch} elements, or beyond its edge none.
VALUES = (
    "{read} = y >= 1 && y - 1 < {high} && x >= 1 && x - 1 < {wide} ? {type}({from}[{at}]) : {type}(x);",
    "{read} = {type}(y); if (y > 0 && y <= {high} && x > 0 && x <= {wide}) {read} = {type}({from}[{at}]);",
    "{read} = {type}(i_or_x); if (x != 3) {read} = {type}(y * 3 + x);",
)


def fill(
    rng: random.Random, type: Scalar, threadgroup, arguments
) -> tuple[Variable, tuple[str, ...]]:
    """A tile, and the lines of the loops that fill all of it."""
    row, rows = rng.choice((5, 8, 10, 16, 18, 20, 34)), rng.choice((3, 6, 10, 18))
    padded = row + rng.choice((0, 0, 1, 3))
    sources = [a for a in arguments if not (a.is_single or a.output)]
    source = rng.choice(sources)
    pitch = min(rng.choice((row, row - 2, 8, 16)), len(source.values))
    form = rng.choice(tuple(FORMS))
    value = rng.choice(VALUES[:2] if source.variable.type == type else VALUES[2:])
    x, y, z = threadgroup
    known = rng.random() < 0.7
    names = {
        "int": rng.choice(("int", "uint")),
        "row": row,
        "rows": rows,
        "step": x * y * z if known else "int(group_size)",
        "step_x": x if known else "int(threads_per_threadgroup.x)",
        "step_y": y if known else "int(threads_per_threadgroup.y)",
        "turns": -(-row * rows // (x * y * z)),
        "read": f"{TILE}[y * {padded} + x]",
        "type": type,
        "from": source.variable.name,
        "at": f"(y - 1) * {pitch} + x - 1",
        "high": len(source.values) // pitch,
        "wide": pitch,
        "pitch": pitch,
    }
    names["element"] = value.replace("i_or_x", "x").format(**names)
    lines = tuple(line.format(**names) for line in FORMS[form])
    return Variable(TILE, type, True, padded * rows, "threadgroup"), lines
