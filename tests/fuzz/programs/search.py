"""Runs the programs of a batch of seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .check import Undefined
from .program import Program, make_program
from .runner import Reply, Runner
from .shrink import kind_of

BATCH = 32  # programs in one compilation


@dataclass
class Tally:
    """The results of programs."""

    programs: int = 0
    failing: int = 0
    kinds: Counter = field(default_factory=Counter)  # of failures
    scalar: Counter = field(default_factory=Counter)  # reasons for code without vectors

    def __iadd__(self, other: Tally) -> Tally:
        self.programs += other.programs
        self.failing += other.failing
        self.kinds += other.kinds
        self.scalar += other.scalar
        return self


def make_all(seeds: range, without: frozenset[str] = frozenset()) -> Iterator[Program]:
    """The programs of seeds, without the few that the generator gets wrong."""
    for seed in seeds:
        try:
            yield make_program(seed, without)
        except Undefined:
            continue


def run_batch(
    seeds: range, runner: Runner, without: frozenset[str] = frozenset()
) -> tuple[Tally, list[tuple[Program, Reply]]]:
    """The results, and the programs that fail."""
    programs = list(make_all(seeds, without))
    launches = [program.launch(place=i) for i, program in enumerate(programs)]
    replies = runner.run(launches)
    tally = Tally(len(programs))
    failing = []
    for program, reply in zip(programs, replies):
        tally.scalar.update({r.why_scalar for r in reply.results.values() if r.why_scalar})
        if reply.failures:
            tally.failing += 1
            tally.kinds.update(set(kind_of(reply).values()))
            failing.append((program, reply))
    return tally, failing
