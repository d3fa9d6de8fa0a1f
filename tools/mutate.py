#!/usr/bin/env python3
"""Puts small faults into the C++ sources, one at a time, and prints which test notices each.

    make mutate COUNT=60 SEED=1

One build contains all of them, each behind a switch. Tests first run without faults, which records
what they reach, and then with each fault that they reach and that no test has noticed. What was
tried is kept: an interrupted run continues.
"""

import argparse
import json
import random
import resource
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation.areas import AREAS, Area
from mutation.mutators import Mutation, choose, find_mutations
from mutation.tests import Tests, cpp_tests, python_tests, reaching
from mutation.workspace import ROOT, Workspace

SURVIVED = "survived"
NOT_REACHED = "survived: no test reaches it"
MOST_MEMORY = 14 << 30


def candidates(seed: int, areas: list[Area]) -> Iterator[tuple[Area, Mutation]]:
    """The areas in random order, each as often as its share says."""
    random_numbers = random.Random(seed)
    queues = {}
    for area in areas:
        mutations = [m for path in area.paths(ROOT) for m in find_mutations(ROOT, path)]
        queues[area.name] = choose(mutations, random_numbers)
    order = [area for area in areas for _ in range(area.share)]
    random_numbers.shuffle(order)
    while True:
        for area in order:
            if (mutation := next(queues[area.name], None)) is None:
                return
            yield area, mutation


def chosen(count: int, seed: int, areas: list[Area]) -> list[tuple[Area, Mutation]]:
    """The first mutations, none inside another."""
    found: list[tuple[Area, Mutation]] = []
    for area, mutation in candidates(seed, areas):
        if not any(mutation.overlaps(other) for _, other in found):
            found.append((area, mutation))
        if len(found) == count:
            break
    return found


class Experiment:
    """Runs each test without mutations, then with each that it reaches and no test has noticed."""

    def __init__(
        self, workspace: Workspace, mutations: dict[int, tuple[Area, Mutation]], log: Path
    ):
        self.workspace = workspace
        self.mutations = mutations
        self.log = log
        lines = log.read_text().splitlines() if log.exists() else []
        self.done = {line["tests"]: line for line in map(json.loads, lines)}

    @property
    def noticed(self) -> dict[int, str]:
        return {
            int(n): by for line in list(self.done.values()) for n, by in line["noticed"].items()
        }

    def try_tests(self, tests: Tests) -> None:
        def living() -> set[int]:
            suited = (n for n, (area, _) in self.mutations.items() if tests.suit(area))
            return set(suited) - self.noticed.keys()

        if tests.name in self.done or not living():
            return
        reached = tests.reach(self.workspace)
        line = {"tests": tests.name, "reached": [], "noticed": {}}
        for number in sorted(living()):
            makes_code = self.mutations[number][0].makes_code
            chosen = reaching(reached, number, makes_code)
            if not chosen or number in self.noticed:
                continue
            line["reached"].append(number)
            if failure := tests.failure(self.workspace, number, makes_code, chosen):
                line["noticed"][number] = failure
        self.done[tests.name] = line
        with self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        count = f"{len(self.noticed)} of {len(self.mutations)} noticed"
        print(f"{len(reached)} tests of {tests.name}: {count}", flush=True)

    def results(self) -> list[dict]:
        reached = {number for line in self.done.values() for number in line["reached"]}
        found = []
        for number, (area, mutation) in self.mutations.items():
            survived = SURVIVED if number in reached else NOT_REACHED
            outcome = self.noticed.get(number, survived)
            told = {"number": number, "area": area.name, "outcome": outcome}
            found.append(asdict(mutation) | told)
        return found


def row(result: dict) -> str:
    def short(text: str) -> str:
        text = " ".join(text.split()).replace("|", "\\|")
        return text if len(text) < 60 else text[:57] + "..."

    change = f"`{short(result['before'])}` → `{short(result['after'])}`"
    place = f"{result['path']}:{result['line']}"
    numbered = f"| {result['number']} | {place} | {result['kind']} | {change} |"
    return f"{numbered} {result['outcome']} |"


def table(results: list[dict]) -> str:
    lines = ["| | place | kind | change | noticed by |", "| --- | --- | --- | --- | --- |"]
    lines += [row(result) for result in results]
    for name in (*(area.name for area in AREAS), ""):
        of_area = [result for result in results if name in ("", result["area"])]
        noticed = sum(not result["outcome"].startswith(SURVIVED) for result in of_area)
        if of_area:
            share = 100 * noticed // len(of_area)
            lines.append(f"\n{name or 'all'}: {noticed} of {len(of_area)} noticed ({share}%)")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="mutations that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", choices=[area.name for area in AREAS], help="one area only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print what would be tried")
    parser.add_argument("--output", type=Path, help="where the table goes besides")
    options = parser.parse_args()
    areas = [area for area in AREAS if options.area in (None, area.name)]
    pairs = chosen(options.count * 5 // 4, options.seed, areas)
    if options.list:
        for number, (_, mutation) in enumerate(pairs):
            print(row(asdict(mutation) | {"number": number, "outcome": ""}))
        return

    # Limits the memory, since mutations can make loops that allocate without end.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    workspace = Workspace(ROOT / "build" / "mutation", options.jobs)
    compiled = workspace.prepare([mutation for _, mutation in pairs])
    name = f"mutations-{workspace.head[:7]}-{options.area or 'all'}-{options.seed}-{options.count}"
    tried = {number: pairs[number] for number in sorted(compiled)[: options.count]}
    experiment = Experiment(workspace, tried, ROOT / "build" / f"{name}.jsonl")
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(experiment.try_tests, [*cpp_tests(workspace), *python_tests(workspace)]))
    results = experiment.results()
    print(table(results))
    if options.output:
        options.output.write_text(table(results) + "\n")


if __name__ == "__main__":
    main()
