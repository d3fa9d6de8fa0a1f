"""The command line: see README.md."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from . import export, regression
from .program import make_program
from .runner import ALL_FORMS, FORMS, PROGRAM_RUNNER, Runner
from .scope import FEATURES
from .search import BATCH, Tally, run_batch
from .shrink import kind_of, shrink


@dataclass
class Work:
    """A batch of seeds, and the options for programs that fail."""

    seeds: range
    without: frozenset[str] = frozenset()
    out: Path | None = None
    program: tuple[str, ...] = (str(PROGRAM_RUNNER),)
    forms: tuple[str, ...] = FORMS
    base: tuple[str, ...] = ()
    shrinks: bool = True


@dataclass
class Done:
    """The results of a batch."""

    tally: Tally
    findings: list[str] = field(default_factory=list)


RUNNERS: dict[tuple[tuple[str, ...], ...], Runner] = {}


def work(task: Work) -> Done:
    """Runs a batch in a process of its own, which keeps its runner."""
    key = (task.program, task.forms, task.base)
    runner = RUNNERS.setdefault(key, Runner(*key))
    tally, failing = run_batch(task.seeds, runner, task.without)
    done = Done(tally)
    for program, reply in failing:
        if task.shrinks:
            program, reply = shrink(program, reply, runner)
        kinds = ", ".join(f"{form} {kind}" for form, kind in kind_of(reply).items())
        title = f"seed {program.seed}: {kinds}"
        if task.out:
            export.write(program, reply, task.out, title)
        done.findings.append(f"{title}\n{program.source('program')}")
    return done


def runner_of(options: argparse.Namespace) -> tuple[tuple[str, ...], ...]:
    """The arguments of `Runner`."""
    return tuple(options.runner), tuple(options.forms), tuple(options.base)


def tasks(options: argparse.Namespace) -> Iterator[Work]:
    """Batches until all programs are run, or the minutes are over."""
    end = time.monotonic() + options.minutes * 60 if options.minutes else None
    last = options.seed + options.programs if end is None else sys.maxsize
    for first in range(options.seed, last, options.batch):
        if end is not None and time.monotonic() > end:
            return
        seeds = range(first, min(first + options.batch, last))
        without = frozenset(options.without)
        yield Work(
            seeds, without, options.out, *runner_of(options), shrinks=not options.no_shrinking
        )


def report(done: Done) -> None:
    for finding in done.findings:
        print(finding, flush=True)


class Progress:
    """The results so far. Prints a line of them on stderr, at most once a minute."""

    def __init__(self):
        self.total, self.printed = Tally(), time.monotonic()

    def add(self, done: Tally) -> None:
        self.total += done
        if time.monotonic() - self.printed > 60:
            self.printed = time.monotonic()
            print(
                f"{self.total.programs} programs, {self.total.failing} differ",
                file=sys.stderr,
                flush=True,
            )


def search(options: argparse.Namespace) -> int:
    start = time.monotonic()
    progress = Progress()
    with ProcessPoolExecutor(options.jobs) as pool:
        running = set()
        for task in tasks(options):
            running.add(pool.submit(work, task))
            while len(running) >= 2 * options.jobs:
                done = next(as_completed(running))
                running.remove(done)
                report(done.result())
                progress.add(done.result().tally)
        for done in as_completed(running):
            report(done.result())
            progress.add(done.result().tally)
    total = progress.total
    seconds = time.monotonic() - start
    print(
        f"{total.programs} programs from seed {options.seed} on, as {', '.join(options.forms)}: "
        f"{total.failing} differ {dict(total.kinds)}, {sum(total.scalar.values())} without vector "
        f"code {dict(total.scalar)}; {seconds:.0f} s"
    )
    return 1 if total.failing else 0


def show(options: argparse.Namespace) -> int:
    """Prints one program and its results."""
    program = make_program(options.show, frozenset(options.without))
    print(program.source("program"))
    print(f"grid {program.launched}, threadgroup {program.threadgroup}")
    (reply,) = Runner(*runner_of(options)).run([program.launch()])
    for form, failure in reply.failures.items():
        print(f"{form}: {failure}")
    return 1 if reply.failures else 0


def run_regressions(options: argparse.Namespace) -> int:
    """Runs the regressions."""
    launches = regression.all_of(options.regressions)
    replies = Runner(*runner_of(options)).run(launches)
    for launch, reply in zip(launches, replies):
        for form, failure in reply.failures.items():
            print(f"{launch.name}: {form}: {failure}")
    failing = sum(1 for reply in replies if reply.failures)
    print(
        f"{len(launches)} programs that are kept, as {', '.join(options.forms)}: {failing} differ"
    )
    return 1 if failing else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="programs", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--minutes", type=float, help="how long, instead of how many")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--batch", type=int, default=BATCH, help="programs in one compilation")
    parser.add_argument("--out", type=Path, default=None, help="folder for programs that differ")
    parser.add_argument("--without", nargs="*", default=[], choices=FEATURES, metavar="FEATURE",
                        help=f"leave out: {', '.join(FEATURES)}")  # fmt: skip
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=ALL_FORMS,
                        help="the first one is what the others are compared with")  # fmt: skip
    parser.add_argument("--no-shrinking", action="store_true", help="report programs as they are")
    parser.add_argument("--show", type=int, metavar="SEED", help="print and run one program")
    parser.add_argument("--regressions", type=Path, nargs="?", const=regression.FOLDER,
                        help="run the programs of a folder, by default those that are kept")  # fmt: skip
    parser.add_argument("--runner", type=shlex.split, default=[str(PROGRAM_RUNNER)],
                        help="another build's runner, which may be a command")  # fmt: skip
    parser.add_argument("--base", type=shlex.split, default=[], metavar="RUNNER",
                        help="a runner whose results in the reference form are what is right")  # fmt: skip
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.regressions is not None:
        return run_regressions(options)
    return show(options) if options.show is not None else search(options)


if __name__ == "__main__":
    sys.exit(main())
