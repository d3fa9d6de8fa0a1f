#!/usr/bin/env python3
"""Puts small faults into the C++ sources, one at a time, and prints which test notices each.

    make mutate COUNT=60 SEED=1

One build contains all of them, each behind a switch. Tests first run without faults, which records
where these would change something, and then with each fault that no test has noticed yet. Faults
that survive and that the compiler makes the same object code of ("trivial compiler equivalence",
Papadakis et al. 2015) are replaced by others of the same build. What was tried is kept: an
interrupted run continues.
"""

import argparse
import json
import random
import resource
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation.areas import AREAS, Area
from mutation.mutators import Mutation, choose, find_mutations
from mutation.tests import Reached, Tests, cpp_tests, python_tests
from mutation.workspace import ROOT, Workspace

SURVIVED = "survived"
NOT_REACHED = "survived: no test reaches it"
# Quarters of the mutations to try: some do not compile, and some change nothing.
SPARE = 6
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
        self.reached: dict[str, Reached] = {}
        self.tried: dict[tuple[str, int], str | None] = {}
        self.equivalent: dict[int, bool] = {}
        for line in log.read_text().splitlines() if log.exists() else []:
            self.keep(json.loads(line))

    def keep(self, line: dict) -> None:
        if "reached" in line:
            self.reached[line["tests"]] = Reached(**line["reached"])
        elif "equivalent" in line:
            self.equivalent[line["number"]] = line["equivalent"]
        else:
            self.tried[line["tests"], line["number"]] = line["noticed"]

    def write(self, line: dict) -> None:
        self.keep(line)
        with self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")

    @property
    def noticed(self) -> dict[int, str]:
        return {number: by for (_, number), by in list(self.tried.items()) if by}

    def try_tests(self, tests: Tests, numbers: list[int]) -> None:
        """With each of these mutations that no test has noticed."""

        def living() -> list[int]:
            noticed = self.noticed
            return [n for n in numbers if n not in noticed and tests.suit(self.mutations[n][0])]

        if tests.name not in self.reached and living():
            reached = tests.reach(self.workspace)
            self.write({"tests": tests.name, "reached": asdict(reached)})
        for number in living():
            makes_code = self.mutations[number][0].makes_code
            reached = self.reached[tests.name]
            if (tests.name, number) in self.tried or number in self.noticed:
                continue
            if reached.by(number, makes_code):
                failure = tests.failure(self.workspace, number, makes_code, reached)
                self.write({"tests": tests.name, "number": number, "noticed": failure})
        count = len(self.noticed.keys() & set(numbers))
        print(f"{tests.name}: {count} of {len(numbers)} noticed", flush=True)

    def is_equivalent(self, number: int) -> bool:
        if number not in self.equivalent:
            equivalent = self.workspace.is_equivalent(self.mutations[number][1])
            self.write({"number": number, "equivalent": equivalent})
        return self.equivalent[number]

    def try_all(self, count: int, all_tests: list[Tests]) -> list[int]:
        """Tries so many mutations that are not equivalent, as far as there are any."""
        numbers = list(self.mutations)
        with ThreadPoolExecutor(self.workspace.jobs) as pool:
            while True:
                different = [n for n in numbers if not self.equivalent.get(n)][:count]
                list(pool.map(self.try_tests, all_tests, repeat(different)))
                survivors = [n for n in different if n not in self.noticed]
                if not any(list(pool.map(self.is_equivalent, survivors))):
                    return different

    def results(self, numbers: list[int]) -> list[dict]:
        reached = {number for _, number in self.tried}
        found = []
        for number in numbers:
            area, mutation = self.mutations[number]
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


def table(results: list[dict], equivalent: int) -> str:
    lines = ["| | place | kind | change | noticed by |", "| --- | --- | --- | --- | --- |"]
    lines += [row(result) for result in results]
    for name in (*(area.name for area in AREAS), ""):
        of_area = [result for result in results if name in ("", result["area"])]
        noticed = sum(not result["outcome"].startswith(SURVIVED) for result in of_area)
        if of_area:
            share = 100 * noticed // len(of_area)
            lines.append(f"\n{name or 'all'}: {noticed} of {len(of_area)} noticed ({share}%)")
    lines.append(f"\nreplaced, since they compile to the same code: {equivalent}")
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
    pairs = chosen(options.count * SPARE // 4, options.seed, areas)
    if options.list:
        for number, (_, mutation) in enumerate(pairs):
            print(row(asdict(mutation) | {"number": number, "outcome": ""}))
        return

    # Limits the memory, since mutations can make loops that allocate without end.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    workspace = Workspace(ROOT / "build" / "mutation", options.jobs)
    compiled = workspace.prepare([mutation for _, mutation in pairs])
    name = f"mutations-{workspace.head[:7]}-{options.area or 'all'}-{options.seed}-{options.count}"
    tried = {number: pairs[number] for number in sorted(compiled)}
    experiment = Experiment(workspace, tried, ROOT / "build" / f"{name}.jsonl")
    tests = [*cpp_tests(workspace), *python_tests(workspace)]
    results = experiment.results(experiment.try_all(options.count, tests))
    text = table(results, sum(experiment.equivalent.values()))
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
