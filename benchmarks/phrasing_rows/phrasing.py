"""A computation in several phrasings, and the hand-written loop that is their limit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.row import Metal, Row


@dataclass
class Phrasing:
    """One way to write a computation. Phrasings with `same_traffic` move the same memory in the
    same order, so that they could be equally fast."""

    name: str
    metal: Sequence[Metal]
    same_traffic: bool = True


@dataclass
class Limit:
    """A function of a C++ file of this folder: it takes pointers to the inputs and outputs, then
    the numbers."""

    source: str
    function: str
    inputs: Sequence[str]
    numbers: Sequence[int]


@dataclass
class Computation(Row):
    phrasings: list[Phrasing] = field(default_factory=list)
    limit: Limit | None = None

    def add(
        self,
        name: str,
        source: str,
        grid: tuple[int, ...],
        group: tuple[int, ...],
        inputs: Sequence[str] = ("x",),
        same_traffic: bool = True,
        **launch: object,
    ) -> None:
        """A phrasing of one launch; a grid and a threadgroup of fewer dimensions are filled up."""
        grid, group = ((*sizes, 1, 1)[:3] for sizes in (grid, group))
        metal = Metal(source, list(inputs), self.outputs, grid, group, **launch)
        self.phrasings.append(Phrasing(name, [metal], same_traffic))
