"""Counts that the threads of a threadgroup make with atomic operations, in loops over a buffer."""

from __future__ import annotations

import random

from .fills import TILE
from .scalars import INT, UINT
from .tree import Variable

# Loops over elements of `{from}`, which has {size}. {count} counts element `i`.
LOOPS = {
    "apart": ("for ({int} i = {start}; i < {size}; i += {step}) {{ {count} }}",),
    "from below": (
        "for (int i = int({start}) - 5; i < {size}; i += int({step})) {{ if (i >= 0) {{ {count} }} }}",
    ),
    "turns": (
        "for ({int} turn = 0; turn < {turns}; ++turn) {{",
        "  {int} i = {start} + turn * {step};",
        "  if (i < {size}) {{ {count} }}",
        "}}",
    ),
    "runs": (
        "for ({int} k = 0; k < {each}; ++k) {{",
        "  {int} i = {start} * {each} + k;",
        "  if (i < {size}) {{ {count} }}",
        "}}",
    ),
    "runs apart": (
        "for ({int} j = {start} * 4; j < {size}; j += {step} * 4)",
        "  for ({int} i = j; i < j + 4; ++i) if (i < {size}) {{ {count} }}",
    ),
    "addresses": (
        "for (const device {type}* p = {from} + {start}; p < {from} + {size}; p += {step}) {{",
        "  uint i = uint(p - {from}); {count}",
        "}}",
    ),
    # The numbers of the later threads wrap around once.
    "wrapping": (
        "for (uint j = tix; j < 0xFFFFFF00u; j += 0xFFFFFF80u) {{",
        "  uint i = j % {size}u; {count}",
        "}}",
    ),
}
STARTS = ("tix", "tix", "thread_position_in_threadgroup.x", "thread_position_in_grid.x")
GUARDS = (
    "",
    "",
    "",
    "if (tix % 3u != 1u) ",
    "if (tix < 20u) ",
    "if (threadgroup_position_in_grid.x == 0u) ",
)
CONDITIONS = ("", "", "if (i % 3 != 1) ", "if (bin != 2u) ", "if ((bin + tix) % 2u == 0u) ")
VALUES = ("1", "1", "i", "bin + 1u", "tix", "thread_index_in_simdgroup")
OPERATIONS = ("add", "add", "add", "sub", "max", "min", "or", "xor")


def count(rng: random.Random, threadgroup, arguments) -> tuple[Variable | None, tuple[str, ...]]:
    """An array, and the lines of the loops that count in it; none without a buffer of integers."""
    sources = [
        a.variable for a in arguments
        if not (a.is_single or a.output) and a.space() == "device" and a.variable.type.is_integer
    ]  # fmt: skip
    if not sources:
        return None, ()
    type, bins = rng.choice((INT, UINT)), rng.choice((1, 4, 16, 64))
    operation = rng.choice(OPERATIONS)
    threads = threadgroup[0] * threadgroup[1] * threadgroup[2]
    lines: list[str] = []
    for _ in range(rng.choice((1, 1, 2))):
        source = rng.choice(sources)
        step = rng.choice(("group_size", "group_size", threads, "threads_per_grid.x", 64, 100))
        known = step if isinstance(step, int) else threads
        change = f"(threadgroup atomic<{type}>*)&{TILE}[bin], {type}({rng.choice(VALUES)})"
        names = {
            "int": rng.choice(("int", "uint")),
            "type": source.type,
            "from": source.name,
            "size": rng.choice((source.size, source.size, source.size // 2)),
            "start": rng.choice(STARTS),
            "step": step,
            "turns": rng.choice((1, 2, -(-source.size // known))),
            "each": rng.choice((3, 8, 16, 32, 32, 64)),
            "count": f"uint bin = uint({source.name}[i]) & {bins - 1}u; {rng.choice(CONDITIONS)}"
            f"atomic_fetch_{operation}_explicit({change}, memory_order_relaxed);",
        }
        loop = [
            line.format(**names)
            for line in rng.choice((*LOOPS.values(), LOOPS["apart"], *[LOOPS["runs"]] * 3))
        ]
        guard = rng.choice(GUARDS)
        lines += [f"{guard}{{", *loop, "}"] if guard else loop
    return Variable(TILE, type, True, bins, "threadgroup"), tuple(lines)
