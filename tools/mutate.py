#!/usr/bin/env python3
"""Puts small faults into the C++ sources, one at a time, and prints which test notices each.

    make mutate COUNT=60 SEED=1

What it has tried is kept: an interrupted run goes on where it was.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation.mutators import Mutation, choose, find_mutations
from mutation.reach import AREAS, Area
from mutation.workspace import ROOT, DoesNotCompile, Workspace

NOT_COMPILED = "does not compile"
SURVIVED = "survived"


def sources_of(area: Area) -> list[str]:
    found = {str(path.relative_to(ROOT)) for glob in area.sources for path in ROOT.glob(glob)}
    return sorted(found - area.left_out)


def candidates(seed: int, areas: list[Area]) -> Iterator[tuple[Area, Mutation]]:
    """The areas in turn, each by its share."""
    random_numbers = random.Random(seed)
    queues = {}
    for area in areas:
        mutations = [m for path in sources_of(area) for m in find_mutations(ROOT, path)]
        queues[area.name] = choose(mutations, random_numbers)
    turns = [area for area in areas for _ in range(area.share)]
    random_numbers.shuffle(turns)
    while True:
        for area in turns:
            if (mutation := next(queues[area.name], None)) is None:
                return
            yield area, mutation


def run(count: int, seed: int, areas: list[Area], workspace: Workspace, log: Path) -> list[dict]:
    results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    counted = sum(result["outcome"] != NOT_COMPILED for result in results)
    for number, (area, mutation) in enumerate(candidates(seed, areas)):
        if counted >= count:
            break
        if number < len(results):
            continue
        try:
            outcome = workspace.outcome_of(mutation, area.stages) or SURVIVED
        except DoesNotCompile:
            outcome = NOT_COMPILED
        counted += outcome != NOT_COMPILED
        results.append(asdict(mutation) | {"area": area.name, "outcome": outcome})
        with log.open("a") as file:
            file.write(json.dumps(results[-1]) + "\n")
        print(f"{counted}/{count} {row(results[-1])}", flush=True)
    return results


def row(result: dict) -> str:
    def short(text: str) -> str:
        text = " ".join(text.split()).replace("|", "\\|")
        return text if len(text) < 60 else text[:57] + "..."

    change = f"`{short(result['before'])}` → `{short(result['after'])}`"
    place = f"{result['path']}:{result['line']}"
    return f"| {place} | {result['kind']} | {change} | {result['outcome']} |"


def table(results: list[dict]) -> str:
    tested = [result for result in results if result["outcome"] != NOT_COMPILED]
    lines = ["| place | kind | change | noticed by |", "| --- | --- | --- | --- |"]
    lines += [row(result) for result in tested]
    for name in (*(area.name for area in AREAS), ""):
        of_area = [result for result in tested if name in ("", result["area"])]
        noticed = sum(result["outcome"] != SURVIVED for result in of_area)
        if of_area:
            share = 100 * noticed // len(of_area)
            lines.append(f"\n{name or 'all'}: {noticed} of {len(of_area)} noticed ({share}%)")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="mutations that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", choices=[area.name for area in AREAS], help="one area only")
    parser.add_argument("--jobs", type=int, default=2, help="of the build")
    parser.add_argument("--list", action="store_true", help="print what would be tried")
    parser.add_argument("--output", type=Path, help="where the table goes besides")
    options = parser.parse_args()
    areas = [area for area in AREAS if options.area in (None, area.name)]
    if options.list:
        for (_, mutation), _ in zip(candidates(options.seed, areas), range(options.count)):
            print(row(asdict(mutation) | {"outcome": ""}))
        return

    workspace = Workspace(ROOT / "build" / "mutation", options.jobs)
    workspace.prepare()
    head = Workspace.git(ROOT, "rev-parse", "--short", "HEAD").strip()
    log = ROOT / "build" / f"mutations-{head}-{options.area or 'all'}-{options.seed}.jsonl"
    results = run(options.count, options.seed, areas, workspace, log)
    print(table(results))
    if options.output:
        options.output.write_text(table(results) + "\n")


if __name__ == "__main__":
    main()
