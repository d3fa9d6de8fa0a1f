"""Scopes: the names and facts at a position in a program. The features of programs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .check import Place
from .tree import Function, Variable

FEATURES = (
    "signed", "small", "wide", "floats", "halves", "shifts", "divisions", "private", "lanes",
    "functions", "switches", "loops", "returns", "exchange", "atomics", "shortcut", "vectors", "structs",
    "pointers", "constants", "tallies", "offsets", "moved", "rows", "tiles", "windows", "columns", "strides",
    "contraction", "phases", "fills", "counts",
)  # fmt: skip

# Those of programs without loops and exchange, in which threads below each other may run at once.
STRAIGHT = (
    "signed", "small", "wide", "floats", "halves", "shifts", "divisions", "returns", "vectors", "constants",
    "offsets", "moved", "columns", "contraction",
)  # fmt: skip

# Those of programs whose threads run for positions far apart, one after the other.
STRIDED = (
    "signed", "small", "wide", "floats", "halves", "shifts", "divisions", "functions", "switches", "loops",
    "vectors", "pointers", "constants", "offsets", "rows", "windows", "strides", "contraction",
)  # fmt: skip

# Most faults of vector code were in these: half of all programs have each of them.
CORE = ("private", "divisions", "lanes", "loops", "switches", "returns")


@dataclass
class Scope:
    """The names that can be used at a position, and the facts there."""

    at: Place
    variables: list[Variable] = field(default_factory=list)
    arrays: list[Variable] = field(default_factory=list)
    aggregates: list[Variable] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def inner(self, **changes) -> Scope:
        """The same in a nested block."""
        at = replace(self.at, **changes)
        lists = (list(self.variables), list(self.arrays), list(self.aggregates))
        return Scope(at, *lists, self.functions)
