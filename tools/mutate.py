#!/usr/bin/env python3
"""Puts small faults into the C++ sources, one at a time, and prints which test notices each.

    make mutate COUNT=60 SEED=1

One build has them all, each behind a switch. Every test runs once without any of them, which tells
what it reaches; then each is switched on for the tests that reach it, until one of them fails.
What was tried is kept: an interrupted run goes on where it was.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation.mutators import Mutation, choose, find_mutations
from mutation.reach import AREAS, SPEED_ONLY, Area, Tests, all_tests
from mutation.workspace import ROOT, Workspace

SURVIVED = "survived"
MOST_MEMORY = 10 << 30
NOT_REACHED = "survived: no test reaches it"


def sources_of(area: Area) -> list[str]:
    found = {str(path.relative_to(ROOT)) for glob in area.sources for path in ROOT.glob(glob)}
    return sorted(found - SPEED_ONLY)


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


def chosen(count: int, seed: int, areas: list[Area]) -> list[tuple[Area, Mutation]]:
    """The first ones, none inside another."""
    found: list[tuple[Area, Mutation]] = []
    for area, mutation in candidates(seed, areas):
        if not any(mutation.overlaps(other) for _, other in found):
            found.append((area, mutation))
        if len(found) == count:
            break
    return found


def outcome_of(workspace: Workspace, number: int, area: Area, tests: list[Tests]) -> str:
    reaching = [each for each in tests if each.reaching(number, area)]
    with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
        kernels = Path(folder) if area.makes_code else workspace.build / "kernels"
        failures = (each.failure(workspace, number, area, kernels) for each in reaching)
        failure = next((failure for failure in failures if failure), None)
    return failure or (SURVIVED if reaching else NOT_REACHED)


def run(
    mutations: dict[int, tuple[Area, Mutation]], workspace: Workspace, tests: list[Tests], log: Path
) -> list[dict]:
    results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    tried = {result["number"] for result in results}
    missing = {number: pair for number, pair in mutations.items() if number not in tried}

    def try_one(number: int) -> dict:
        area, mutation = missing[number]
        outcome = outcome_of(workspace, number, area, tests)
        return asdict(mutation) | {"number": number, "area": area.name, "outcome": outcome}

    with ThreadPoolExecutor(workspace.jobs) as pool, log.open("a") as file:
        for result in pool.map(try_one, missing):
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(f"{len(results)}/{len(mutations)} {row(result)}", flush=True)
    return results


def row(result: dict) -> str:
    def short(text: str) -> str:
        text = " ".join(text.split()).replace("|", "\\|")
        return text if len(text) < 60 else text[:57] + "..."

    change = f"`{short(result['before'])}` → `{short(result['after'])}`"
    place = f"{result['path']}:{result['line']}"
    return f"| {place} | {result['kind']} | {change} | {result['outcome']} |"


def table(results: list[dict]) -> str:
    lines = ["| place | kind | change | noticed by |", "| --- | --- | --- | --- |"]
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
        for _, mutation in pairs:
            print(row(asdict(mutation) | {"outcome": ""}))
        return

    # Of data: mutations make loops that end with the memory.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    workspace = Workspace(ROOT / "build" / "mutation", options.jobs)
    compiled = workspace.prepare([mutation for _, mutation in pairs])
    head = Workspace.git(ROOT, "rev-parse", "--short", "HEAD").strip()
    name = f"mutations-{head}-{options.area or 'all'}-{options.seed}-{options.count}"
    tests = all_tests(workspace, ROOT / "build" / f"{name}-tests.jsonl")
    tried = {number: pairs[number] for number in sorted(compiled)[: options.count]}
    results = run(tried, workspace, tests, ROOT / "build" / f"{name}.jsonl")
    print(table(results))
    if options.output:
        options.output.write_text(table(results) + "\n")


if __name__ == "__main__":
    main()
