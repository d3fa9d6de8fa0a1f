"""What is known where a program goes on: names and facts. What programs are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .check import Place
from .tree import Function, Variable

FEATURES = (
    "signed", "small", "wide", "floats", "halves", "shifts", "divisions", "private", "lanes",
    "functions", "switches", "loops", "returns", "exchange", "atomics", "shortcut", "vectors", "structs",
    "pointers", "constants", "tallies", "offsets", "moved",
)  # fmt: skip

# Where most faults of vector code were: half of all programs have each of these.
CORE = ("private", "divisions", "lanes", "loops", "switches", "returns")


@dataclass
class Scope:
    """The names that can be used at a place, and what holds there."""

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
